"""The public functions that need PySpark: ``attach``, ``shadow``, ``receive``, ``read_once``,
``doctor``, and the ``Handle`` of a running autoscaler.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from rheostat.config import (
    ExportOptions,
    GuardOptions,
    JournalOptions,
    LoopOptions,
    ServeOptions,
)
from rheostat.diagnosis.examination import examine as doctor
from rheostat.errors import BadInput
from rheostat.model import Limits, Slo
from rheostat.ports import Policy
from rheostat.settings import GROUPS, PREFIX, Settings, conf_settings, merge
from rheostat.spark import dstreams, session
from rheostat.spark.fleet.receive_into import read_once, receive
from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import has_ended
from rheostat.spark.sensing.capabilities import configuration

__all__ = ["Handle", "attach", "doctor", "read_once", "receive", "shadow"]


def attach(
    spark: Any,
    *positional: NoReturn,
    policy: str | Policy | None = None,
    parameters: Mapping[str, Any] | None = None,
    slo: Slo | float | Mapping[str, float] | None = None,
    priority: Mapping[str, float] | None = None,
    limits: Limits | tuple[int, int] | None = None,
    kafka: Mapping[str, Any] | str | None = None,
    journal: Path | str | None = None,
    loop: LoopOptions | None = None,
    guards: GuardOptions | None = None,
    placement: str | None = None,
    standby: int | None = None,
    shares: str | None = None,
    free_nodes: bool | None = None,
    retention: JournalOptions | None = None,
    serve: str | int | ServeOptions | None = None,
    export: ExportOptions | None = None,
    replace: bool | None = None,
    price: float | None = None,
    **unknown: NoReturn,
) -> Handle:
    """Autoscale a running session: decide every few seconds how many executors it needs, and change
    that number live.

    An argument that is not given is taken from Spark's configuration, where it is a setting
    ``spark.rheostat.NAME`` (``spark.rheostat.limits.max``, ``spark.rheostat.guards.step_out``), and
    then from the default:

    - ``policy``: a registered name (default ``predictive``), with its own ``parameters``, or an
      object with ``decide``.
    - ``slo``: latency objective in seconds (default 10), or one per query by its name, as
      ``{"orders": 10, "audit": 60}``; the strictest applies to all other queries.
    - ``priority``: a number per query by its name, as ``{"orders": 2}``; all others have 1. Only
      late rows of the highest priority spend the error budget.
    - ``limits``: minimum and maximum number of executors (default 1 and 8, or the number at the
      start if that is larger). With a minimum of 0 there are none between runs: while no query and
      no job runs, or between two batches of a trigger interval of ten minutes or more.
    - ``kafka``: ``host:port``, or a client configuration with ``bootstrap.servers``. The broker
      then reports the lag, also while a batch runs; otherwise it follows from completed batches.
    - ``journal``: a folder (default: one per application in the user's state folder). A folder on a
      Hadoop file system (``hdfs://``, ``s3a://``) outlives the driver's computer.
    - ``loop``, ``guards``, ``retention``: how often to decide and with which delays, which optional
      guards apply, and how much of the journal is kept.
    - ``placement``: whether state partitions move with the executors: ``auto`` (where a soak test
      has verified it), ``force`` or ``off``; ``shares``: how they are distributed, by ``count``,
      ``bytes`` or contiguous ``ranges`` (Flink's rule).
    - ``standby``: warm executors without state above the target, within the ceiling; they cost as
      much as others.
    - ``free_nodes``: among executors with equal state, remove one on the emptiest node first.
    - ``serve``: port, or ``host:port``, of the page, the metrics and the HTTP control API.
    - ``export``: a metrics file, OpenTelemetry and a webhook.
    - ``replace``: stop another autoscaler of this application instead of being refused.
    - ``price``: price of a slot-hour, in which savings are reported.

    The application starts with the size of its previous run, the configured size or the size that
    the backlog needs, whichever is largest. If the session cannot be scaled, one warning is logged
    and the job keeps running. A StreamingContext (``pyspark.streaming``, deprecated since Spark
    3.4) is autoscaled too: its default policy is ``spark-batch-ratio``, and ``placement="off"``
    keeps its receivers where they are.

    Raises BadInput before anything is changed: for an unknown policy, an invalid value, an argument
    that does not exist, a session that has been stopped, and one that is already autoscaled.
    """
    return session.autoscale(spark, _settings("attach", **locals()))


def shadow(
    spark: Any,
    *positional: NoReturn,
    policy: str | Policy | None = None,
    parameters: Mapping[str, Any] | None = None,
    slo: Slo | float | Mapping[str, float] | None = None,
    priority: Mapping[str, float] | None = None,
    limits: Limits | tuple[int, int] | None = None,
    kafka: Mapping[str, Any] | str | None = None,
    journal: Path | str | None = None,
    loop: LoopOptions | None = None,
    guards: GuardOptions | None = None,
    placement: str | None = None,
    standby: int | None = None,
    shares: str | None = None,
    free_nodes: bool | None = None,
    retention: JournalOptions | None = None,
    serve: str | int | ServeOptions | None = None,
    export: ExportOptions | None = None,
    replace: bool | None = None,
    price: float | None = None,
    **unknown: NoReturn,
) -> Handle:
    """Observe a session and decide without executing anything: only public interfaces are used, and
    decisions go to a journal in a local folder.

    Takes the arguments of ``attach`` and raises what it raises. It can run next to an ``attach``.
    """
    return session.observe(spark, _settings("shadow", **locals()))


def _settings(
    call: str,
    spark: Any,
    positional: tuple[Any, ...],
    unknown: Mapping[str, Any],
    **arguments: Any,
) -> Settings:
    """Return the settings: Spark's configuration, overridden by the arguments of a call."""
    if positional:
        raise BadInput(
            f"{call} takes only the session by position, but it got {positional[0]!r:.60} too;"
            f" name the argument, as {call}(spark, policy='predictive')"
        )
    for name in unknown:
        raise BadInput(f"{call} has no argument {name!r}{_hint(name, unknown, arguments)}")
    is_streaming = dstreams.is_streaming_context(spark)
    defaults = {"policy": dstreams.DEFAULT_POLICY} if is_streaming else {}
    conf = {} if has_ended(spark) else configuration(spark, PREFIX)
    return merge(defaults, conf, arguments)


_BOUNDS = {
    **dict.fromkeys(("min", "minimum", "min_executors", "minExecutors"), "min_executors"),
    **dict.fromkeys(("max", "maximum", "max_executors", "maxExecutors"), "max_executors"),
}


def _hint(name: str, unknown: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """Return a hint at the argument that was probably meant."""
    if name in _BOUNDS:
        bounds = {_BOUNDS[key]: value for key, value in unknown.items() if key in _BOUNDS}
        low = bounds.get("min_executors", Limits().min_executors)
        return f"; use limits=({low!r}, {bounds.get('max_executors', Limits().max_executors)!r})"
    for setting in conf_settings():
        if setting.argument in GROUPS and setting.part == name:
            group = GROUPS[setting.argument].__name__
            return f"; use {setting.argument}=rheostat.{group}({name}={unknown[name]!r})"
    similar = get_close_matches(name, known, 1)
    return f"; did you mean {similar[0]}=?" if similar else f"; it has {', '.join(known)}"
