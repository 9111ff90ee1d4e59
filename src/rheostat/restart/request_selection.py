"""Selects the restart request to carry out: a pure function of requests, current size and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rheostat.guards.periods import Period, in_force
from rheostat.journal.control_channel import RestartRequest
from rheostat.restart.restart_state import RestartState


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartConfig:
    """When the loop may restart the job, and how long draining may last, in seconds.

    ``pause_s`` is the minimum time from a start to the next restart. State is repartitioned
    automatically only with ``allow_repartition`` and during a period of ``window``.
    """

    pause_s: float = 300.0
    drain_limit_s: float = 120.0
    allow_repartition: bool = False
    window: tuple[Period, ...] = ()


def select_request(
    state: RestartState,
    partitions: Sequence[int],
    loop: RestartRequest | None,
    person: RestartRequest | None,
    now: float,
    config: RestartConfig,
) -> RestartState | None:
    """Return the state with the restart to carry out now; None without one.

    ``partitions`` are the state partitions of each checkpoint that has state. A person's request is
    carried out at once; the loop's request waits for the pause, and its state partitions for the
    window. The loop's request raises the partitions of a query that has too few and never lowers
    them.
    """
    if person is not None and person.t_s > state.requested_s:
        return _applied(state, partitions, person, at_least=False)
    if loop is None or loop.run != state.run or now - state.since_s < config.pause_s:
        return None
    if not may_repartition(config, now):
        loop = replace(loop, partitions=None)
    if loop.partitions == state.partitions and state.refusal:
        loop = replace(loop, partitions=None)  # it was refused before
    return _applied(state, partitions, loop, at_least=True)


def may_repartition(config: RestartConfig, now: float) -> bool:
    """Return whether state may be repartitioned now without a person's request."""
    return config.allow_repartition and in_force(config.window, now)


def differs(partitions: int, requested: int | None, at_least: bool) -> bool:
    """Return whether a checkpoint with this number of state partitions must be repartitioned."""
    if requested is None:
        return False
    return partitions < requested if at_least else partitions != requested


def _applied(
    state: RestartState, partitions: Sequence[int], request: RestartRequest, *, at_least: bool
) -> RestartState | None:
    executors = request.executors or state.executors
    requested = request.partitions if partitions else None
    differing = [partition for partition in partitions if differs(partition, requested, at_least)]
    if executors == state.executors and not differing:
        return None
    return replace(
        state,
        number=state.restarts + 1,
        restarts=state.restarts + 1,
        executors=executors,
        executors_before=state.executors,
        partitions=requested,
        partitions_before=next(iter([*differing, *partitions]), None),
        at_least=at_least,
        reason=request.reason,
        requested_s=request.t_s,
        drained_s=None,
        down_s=None,
        spent_s={},
        refusal="",
        finishes=0,
    )
