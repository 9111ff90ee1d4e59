"""What a supervisor has done so far: its memory as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DOWN = ("draining", "stopping", "stopped", "finishing", "rescaling", "starting")
"""Phases of a restart that are told one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartState:
    """Where a supervised job stands.

    ``number`` is that of the newest restart, 0 before there was one since the job was begun;
    ``restarts`` counts them all, ``run`` the processes. ``executors`` is the size that is wanted or
    stands, ``executors_before`` the one before; ``partitions`` the state partitions that are
    wanted, None for those that are there; ``at_least``: a checkpoint with more keeps them.
    ``asked_s`` is when the wish was made that is carried out. ``spent_s`` are the seconds of each
    phase of this restart, ``down_s`` the time without a finished batch: from the last query's end
    to the first batch's end. ``sinks`` are the folders that queries write files to, by their
    checkpoints.
    """

    phase: str = "stopped"
    number: int = 0
    restarts: int = 0
    run: int = 0
    executors: int = 1
    executors_before: int | None = None
    partitions: int | None = None
    partitions_before: int | None = None
    at_least: bool = False
    reason: str = ""
    asked_s: float = 0.0
    since_s: float = 0.0
    drained_s: float | None = None
    down_s: float | None = None
    spent_s: Mapping[str, float] = field(default_factory=dict)
    checkpoints: tuple[str, ...] = ()
    sinks: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    finishes: int = 0


def restart_text(story: RestartState) -> str:
    """Return a restart in one line: from what to what, how long, why."""
    sizes = [f"{story.executors_before} -> {_executors(story.executors)}"]
    if story.executors_before in (None, story.executors):
        sizes = [f"at {_executors(story.executors)}"]
    if story.partitions is not None and story.partitions != story.partitions_before:
        before = "" if story.partitions_before is None else f"{story.partitions_before} -> "
        sizes.append(f"{before}{story.partitions} state partitions")
    if story.refusal:
        sizes.append(f"the state was not rescaled: {story.refusal}")
    return f"restart {story.number}: {', '.join(sizes)}: {duration(story)}; {story.reason}"


def duration(story: RestartState) -> str:
    """Return how long a restart has taken, phase by phase; as far as it has come."""
    steps = ", ".join(
        f"{phase} {story.spent_s[phase]:.1f} s" for phase in DOWN if phase in story.spent_s
    )
    down = f"downtime {story.down_s:.1f} s" if story.down_s is not None else story.phase
    return f"{down} ({steps})" if steps else down


def _executors(number: int) -> str:
    return f"{number} executor{'s' * (number != 1)}"
