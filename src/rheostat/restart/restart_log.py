"""Keeps the state of a supervisor: one event per step, durable before the next step."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rheostat.restart.restart_state import RestartState
from rheostat.storage.event_log import EventLog, known_fields
from rheostat.storage.local_files import LocalFileSystem

FILE = "story.jsonl"


class RestartLog(EventLog[RestartState]):
    """The file ``story.jsonl`` in the folder of the control channel."""

    def __init__(self, folder: Path) -> None:
        super().__init__(LocalFileSystem(), str(folder / FILE), asdict, _state)

    def last(self) -> RestartState | None:
        """Return where the job stands; None where nothing was kept."""
        return next(reversed([*self.read()]), None)

    def restarts(self) -> list[RestartState]:
        """Return every restart as it stood last, in order."""
        by_number = {state.number: state for state in self.read() if state.number}
        return [by_number[number] for number in sorted(by_number)]


def _state(read: dict[str, Any]) -> RestartState:
    values = known_fields(RestartState, read)
    return RestartState(**{**values, "checkpoints": tuple(values["checkpoints"])})
