"""Puts together what changes the size of an application: the steward, with placement where it is
possible and allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rheostat.spark.internals.coordinator import Coordinator
from rheostat.spark.internals.internals import Internals
from rheostat.spark.resizing.resize_terms import Terms
from rheostat.spark.resizing.soaked import Verdict, verdict
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.resizing.steward import Steward
from rheostat.spark.resizing.steward_ports import Preloading, Warmth
from rheostat.spark.sensing.capabilities import is_on, locality_wait_s, slots_per_executor
from rheostat.spark.sensing.rhythms import Rhythms
from rheostat.spark.sensing.running_queries import RunningQueries
from rheostat.spark.sensing.shape import PROVIDER
from rheostat.spark.warming.warm_start import of_session

STATE_WAIT_S = 3.0
"""Spark's own wait for a preferred executor.

With a shorter one state wanders by itself, and no place that it is given holds.
"""

_DEFAULT_PROVIDER = "HDFSBackedStateStoreProvider"
_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"


def placement_verdict(spark: Any, coordinator: Coordinator, mode: str) -> Verdict:
    """Tell whether state is placed in this session in the mode ``auto``, ``force`` or ``off``, and
    why.
    """
    provider = str(spark.conf.get(PROVIDER, _DEFAULT_PROVIDER)).rpartition(".")[2]
    said = verdict(mode, spark.version, provider, int(spark.conf.get(_FORMAT, "1")))
    missing = coordinator.cannot_place() if said.places else None
    return (
        said
        if missing is None
        else Verdict(False, f"state stays where Spark has put it: {missing}")
    )


def steward(
    spark: Any,
    internals: Internals,
    rhythms: Rhythms,
    places: bool,
    objective_s: float,
    can_decommission: bool,
    warmth: Warmth | None = None,
    preload: Preloading | None = None,
    standby: int = 0,
    max_executors: int = 8,
    shares: str = "count",
) -> Steward:
    """Return the steward of an application; with ``places`` it moves state, and tasks wait long
    enough for the state they need.

    ``shares`` is how state is shared out: ``count``, ``bytes`` or ``ranges``. ``standby`` executors
    stand by above the target, as far as ``max_executors`` allows; without ``places`` none.
    ``rhythms`` are those that ``warmth`` and ``preload`` take.
    """
    own_s = locality_wait_s(spark)
    short = places and own_s < STATE_WAIT_S
    usual, longer = (
        (f"{STATE_WAIT_S:g}s" if short else None),
        f"{max(STATE_WAIT_S, own_s, objective_s):g}s",
    )
    waits = internals.locality_waits
    if short:
        waits.set_process_wait(usual)
    terms = Terms(
        objective_s=objective_s,
        graceful=can_decommission,
        hides=not is_on(spark, "spark.storage.decommission.enabled"),
        slots_per_executor=slots_per_executor(spark),
        standby=standby if places else 0,
        max_executors=max_executors,
        leaving=_training(spark),
        ended=internals.gateway.stopped,
        hold=lambda changes: waits.set_process_wait(longer if changes else usual),
        at_end=lambda: waits.set_process_wait(None) if short else None,
    )
    placement = (
        Placement(
            internals.coordinator,
            internals.files.bytes_in if shares == "bytes" else None,
            shares == "ranges",
        )
        if places
        else None
    )
    queries = RunningQueries(spark, internals.queries, internals.files, rhythms)
    return Steward(
        internals.executors,
        internals.block_managers,
        queries,
        placement,
        warmth if places else None,
        terms,
        preload,
    )


def _training(spark: Any) -> Callable[[str], None]:
    """Return what a leaving executor is used for: it writes the class archive that later ones start
    from, if there is none yet.
    """
    warm, application = of_session(spark), str(spark.sparkContext.applicationId)
    return (lambda executor: warm.train_soon(application, executor)) if warm else (lambda _: None)
