"""The state of a supervised job and its restarts, with its text and JSON forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rheostat.plural import counted
from rheostat.storage.event_log import EventLog, known_fields
from rheostat.storage.local_files import LocalFileSystem

DOWN = ("draining", "stopping", "stopped", "finishing", "repartitioning", "starting")
"""Phases of a restart whose durations are reported separately."""

FILE = "restarts.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartState:
    """The state of a supervised job.

    ``number`` is that of the newest restart, 0 before the first since the job was started;
    ``restarts`` counts all, ``run`` the processes. ``executors`` is the requested size,
    ``executors_before`` the previous one; ``partitions`` are the requested state partitions, None
    for the existing ones; ``at_least``: a checkpoint with more keeps them. ``requested_s`` is the
    time of the request. ``spent_s`` are the seconds of each phase of this restart, ``down_s`` the
    time without a completed batch: from the end of the last query to the end of the first batch.
    ``sinks`` are the folders that queries write files to, by checkpoint.
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
    requested_s: float = 0.0
    since_s: float = 0.0
    drained_s: float | None = None
    down_s: float | None = None
    spent_s: Mapping[str, float] = field(default_factory=dict)
    checkpoints: tuple[str, ...] = ()
    sinks: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    finishes: int = 0


def restart_text(state: RestartState) -> str:
    """Return a restart in one line: the sizes, the duration and the reason."""
    size = counted(state.executors, "executor")
    is_resized = state.executors_before not in (None, state.executors)
    sizes = [f"{state.executors_before} -> {size}" if is_resized else f"at {size}"]
    if state.partitions is not None and state.partitions != state.partitions_before:
        before = "" if state.partitions_before is None else f"{state.partitions_before} -> "
        sizes.append(f"{before}{state.partitions} state partitions")
    if state.refusal:
        sizes.append(f"the state was not repartitioned: {state.refusal}")
    return f"restart {state.number}: {', '.join(sizes)}: {duration(state)}; {state.reason}"


def duration(state: RestartState) -> str:
    """Return the duration of a restart so far, with its phases."""
    steps = ", ".join(
        f"{phase} {state.spent_s[phase]:.1f} s" for phase in DOWN if phase in state.spent_s
    )
    down = f"downtime {state.down_s:.1f} s" if state.down_s is not None else state.phase
    return f"{down} ({steps})" if steps else down


class RestartLog(EventLog[RestartState]):
    """The file ``restarts.jsonl`` in the folder of the control channel."""

    def __init__(self, folder: Path) -> None:
        super().__init__(LocalFileSystem(), str(folder / FILE), asdict, _state)

    def last(self) -> RestartState | None:
        """Return the last recorded state of the job; None without one."""
        return next(reversed([*self.read()]), None)

    def restarts(self) -> list[RestartState]:
        """Return the last recorded state of every restart, in order."""
        by_number = {state.number: state for state in self.read() if state.number}
        return [by_number[number] for number in sorted(by_number)]


def _state(read: dict[str, Any]) -> RestartState:
    values = known_fields(RestartState, read)
    return RestartState(**{**values, "checkpoints": tuple(values["checkpoints"])})
