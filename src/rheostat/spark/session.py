"""The ways into a PySpark session: ``shadow`` watches it, ``attach`` sizes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from functools import wraps
from types import ModuleType
from typing import Any, Concatenate, ParamSpec, cast

from rheostat.errors import BadInput
from rheostat.model import Limits
from rheostat.spark import assembly, dstreams
from rheostat.spark.agency import serve_agent
from rheostat.spark.announcement import announcement, log_lines
from rheostat.spark.attachment import take
from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import has_ended
from rheostat.spark.journaling.journals import after_death_text
from rheostat.spark.journaling.start_events import remember_journal, start_event
from rheostat.spark.sensing.capabilities.capabilities import application_id, configuration
from rheostat.spark.settings.conf_settings import PREFIX, arguments_of, keys, over
from rheostat.spark.settings.sizing_settings import Settings, settings_of

__all__ = ["attach", "settings_of", "shadow", "size", "watch"]
_P = ParamSpec("_P")


def _usual(spark: Any) -> dict[str, Any]:
    """Return the defaults of this kind of application that differ from those of a session."""
    return {"policy": dstreams.DEFAULT_POLICY} if dstreams.is_streaming_context(spark) else {}


def _with_arguments_of(
    made: Callable[_P, Settings],
) -> Callable[[Callable[[Any, Settings], Handle]], Callable[Concatenate[Any, _P], Handle]]:
    """Let a function of a session and settings take what ``made`` makes settings of."""

    def decorate(way: Callable[[Any, Settings], Handle]) -> Callable[Concatenate[Any, _P], Handle]:
        taken = inspect.signature(made).parameters

        @wraps(way)
        def completed(spark: Any, /, *args: _P.args, **given: _P.kwargs) -> Handle:
            check_arguments(way.__name__, taken, args, given)
            conf = {} if has_ended(spark) else configuration(spark, PREFIX)
            configured = {**_usual(spark), **arguments_of(conf)}
            return way(spark, made(*args, **over(configured, given)))

        own = [*inspect.signature(way).parameters.values()][:1]
        completed.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [*own, *taken.values()], return_annotation=Handle
        )
        return cast("Callable[Concatenate[Any, _P], Handle]", completed)

    return decorate


@_with_arguments_of(settings_of)
def shadow(spark: Any, settings: Settings) -> Handle:
    """Watch a session and advise: public interfaces only, nothing is touched, decisions go to a
    journal in a local folder.

    Takes what ``attach`` takes, and raises what it raises; beside an ``attach`` it is harmless.
    """
    return watch(spark, settings)


@_with_arguments_of(settings_of)
def attach(spark: Any, settings: Settings) -> Handle:
    """Size a running session: decide every few seconds how many executors it needs, and change that
    number live.

    ``policy`` is a registered name (``parameters`` are its own) or an object with ``decide``;
    ``slo`` the latency objective in seconds (default 10); ``limits`` the least and the most
    executors (default 1 and 8); ``kafka`` ``host:port`` or a client configuration; ``journal`` a
    folder; ``loop`` how often and how carefully; ``guards`` which further rules hold; ``placement``
    whether state moves with the executors: ``auto``, ``force`` or ``off``; ``standby`` how many
    warm executors without state are kept above the target; ``shares`` how state is shared out:
    ``count``, ``bytes`` or ``ranges``; ``free_nodes`` whether executors leave so that nodes become
    empty; ``agent`` at which port it is asked and told over HTTP; ``replace`` whether it ends
    another autoscaler of this application (see ``settings_of``). The application
    starts with what the previous run had, what is configured or what the backlog needs, whichever
    is largest; this size stays until something else is decided.
    What this session does not allow is said in one line, and the job runs on unscaled.

    What is not given here is taken from Spark's configuration, where each argument is a setting
    ``spark.rheostat.NAME`` (``spark.rheostat.limits.max``, ``spark.rheostat.guards.step_out``).

    A StreamingContext of ``pyspark.streaming`` (deprecated since Spark 3.4) is sized, too: its
    policy is ``spark-batch-ratio`` where none is given, and ``placement="off"`` lets its receivers
    stay where they are.

    Raises BadInput for what cannot be used, before anything is touched: an unknown policy, a wrong
    value, no session, one that has been stopped, or one that another ``attach`` sizes already.
    """
    return size(spark, settings)


def watch(spark: Any, settings: Settings) -> Handle:
    """Do what ``shadow`` says, with settings that are ready."""
    _check(spark)
    return _begin(spark, _room(spark).watcher(spark, settings), settings)


def size(spark: Any, settings: Settings, gives_way: bool = False) -> Handle:
    """Do what ``attach`` says, with settings that are ready.

    With ``gives_way`` a later ``attach`` takes its place instead of being refused.
    """
    _check(spark)
    return take(
        application_id(spark),
        lambda: _begin(spark, _room(spark).sizer(spark, settings), settings, gives_way),
        settings.replace,
        gives_way,
    )


def _room(spark: Any) -> ModuleType:
    """Return what puts the parts together for a session or for a StreamingContext."""
    return dstreams if dstreams.is_streaming_context(spark) else assembly


def _check(spark: Any) -> None:
    """Raise BadInput for what is no session, or one that has been stopped."""
    if dstreams.is_streaming_context(spark):
        dstreams.check(spark)
        return
    if isinstance(spark, type) or "streams" not in dir(spark):
        raise BadInput(f"a SparkSession is needed, but it is {spark!r:.80}")
    if has_ended(spark):
        raise BadInput("this SparkSession has been stopped; attach to one that runs")


def _begin(spark: Any, handle: Handle, settings: Settings, launched: bool = False) -> Handle:
    """Announce what the autoscaler will do, and start it; nothing stays open where that fails."""
    try:
        return _started(spark, handle, settings, launched)
    except BaseException:
        handle.discard()
        raise


def _started(spark: Any, handle: Handle, settings: Settings, launched: bool) -> Handle:
    agent = serve_agent(spark, handle, settings)
    application, able = application_id(spark), handle.capabilities
    handle.keep_start(start_event(settings, application, able, agent, launched))
    remember_journal(handle.journal)
    lag_known = dstreams.is_streaming_context(spark)
    where = (handle.journal, handle.stop_file)
    after = after_death_text(spark, settings, handle.journal)
    halts = handle.halts_by_checkpoint
    log_lines(announcement(settings, handle.capabilities, *where, lag_known, after, halts))
    handle.start(settings.loop.interval_s)
    return handle


_BOUNDS = {
    **dict.fromkeys(("min", "minimum", "min_executors", "minExecutors"), "min_executors"),
    **dict.fromkeys(("max", "maximum", "max_executors", "maxExecutors"), "max_executors"),
}
_GROUPS = {"loop": "LoopOptions", "guards": "GuardOptions", "retention": "JournalOptions"}


def check_arguments(
    call: str, known: Collection[str], positional: tuple[Any, ...], given: Mapping[str, Any]
) -> None:
    """Raise BadInput where ``call`` does not take an argument: the message names the right one."""
    if positional:
        raise BadInput(
            f"{call} takes only the session by position, but it got {positional[0]!r:.60} too;"
            f" name the argument, as {call}(spark, policy='predictive')"
        )
    unknown = [name for name in given if name not in known]
    if unknown:
        hint = _right_argument(unknown[0], known, given)
        raise BadInput(f"{call} has no argument {unknown[0]!r}{hint}")


def _right_argument(name: str, known: Collection[str], given: Mapping[str, Any]) -> str:
    if name in _BOUNDS:
        bounds = {_BOUNDS[key]: value for key, value in given.items() if key in _BOUNDS}
        low = bounds.get("min_executors", Limits().min_executors)
        return f"; use limits=({low!r}, {bounds.get('max_executors', Limits().max_executors)!r})"
    for key in keys():
        if key.argument in _GROUPS and key.part == name:
            group = _GROUPS[key.argument]
            return f"; use {key.argument}=rheostat.{group}({name}={given[name]!r})"
    similar = get_close_matches(name, known, 1)
    return f"; did you mean {similar[0]}=?" if similar else f"; it has {', '.join(known)}"
