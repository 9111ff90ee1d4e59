"""Which wish is carried out now: a pure function of wishes, the size that stands, and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rheostat.guards.periods import Period, in_force
from rheostat.journal.control_channel import RestartRequest
from rheostat.restart.restart_state import RestartState


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartConfig:
    """When a restart that the loop wants may be made, and how long its phases may last, in seconds.

    ``pause_s`` is the least time from a start to the next restart. State is rescaled unasked only
    with ``allow_repartition``, and only while a period of ``window`` is in force.
    """

    pause_s: float = 300.0
    drain_limit_s: float = 120.0
    allow_repartition: bool = False
    window: tuple[Period, ...] = ()


def select_request(
    story: RestartState,
    partitions: Sequence[int],
    loop: RestartRequest | None,
    person: RestartRequest | None,
    now: float,
    terms: RestartConfig,
) -> RestartState | None:
    """Return the story with what is to be carried out now, None where nothing is.

    ``partitions`` are the state partitions of each checkpoint that has state. A person's wish waits
    for nothing; the loop's waits for the pause, and its state partitions for the window. The loop
    means the query that is bound, so it takes no partition from another one.
    """
    if person is not None and person.t_s > story.asked_s:
        return _taken(story, partitions, person, at_least=False)
    if loop is None or loop.run != story.run or now - story.since_s < terms.pause_s:
        return None
    if not may_repartition(terms, now):
        loop = replace(loop, partitions=None)
    if loop.partitions == story.partitions and story.refusal:
        loop = replace(loop, partitions=None)  # it was tried, and cannot be had
    return _taken(story, partitions, loop, at_least=True)


def may_repartition(terms: RestartConfig, now: float) -> bool:
    """Tell whether state may be rescaled now without a person's word."""
    return terms.allow_repartition and in_force(terms.window, now)


def is_unlike(partitions: int, wanted: int | None, at_least: bool) -> bool:
    """Tell whether a checkpoint with so many state partitions is to be rescaled."""
    if wanted is None:
        return False
    return partitions < wanted if at_least else partitions != wanted


def _taken(
    story: RestartState, partitions: Sequence[int], wish: RestartRequest, *, at_least: bool
) -> RestartState | None:
    executors = wish.executors or story.executors
    wanted = wish.partitions if partitions else None
    unlike = [partition for partition in partitions if is_unlike(partition, wanted, at_least)]
    if executors == story.executors and not unlike:
        return None
    return replace(
        story,
        number=story.restarts + 1,
        restarts=story.restarts + 1,
        executors=executors,
        executors_before=story.executors,
        partitions=wanted,
        partitions_before=next(iter([*unlike, *partitions]), None),
        at_least=at_least,
        reason=wish.reason,
        asked_s=wish.t_s,
        drained_s=None,
        down_s=None,
        spent_s={},
        refusal="",
        finishes=0,
    )
