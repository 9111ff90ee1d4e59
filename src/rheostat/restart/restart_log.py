"""Keeps a supervisor's state: one JSON line per step, flushed to disk before the next step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path

from rheostat.restart.restart_state import RestartState
from rheostat.storage.local_files import LocalFileSystem

FILE = "story.jsonl"


class RestartLog:
    """The file ``story.jsonl`` in the folder of the control channel."""

    def __init__(self, folder: Path) -> None:
        self._name = str(folder / FILE)
        self._files = LocalFileSystem()

    def note(self, state: RestartState) -> None:
        """Keep where the job stands now."""
        self._files.append(self._name, json.dumps(asdict(state), separators=(",", ":")) + "\n")

    def steps(self) -> Iterator[RestartState]:
        """Yield all steps; a line that a crash has torn is left out."""
        for line in (self._files.read_text(self._name) or "").splitlines():
            if (step := _read(line)) is not None:
                yield step

    def last(self) -> RestartState | None:
        """Return where the job stands; None where nothing was kept."""
        step = None
        for step in self.steps():  # noqa: B007
            pass
        return step

    def restarts(self) -> list[RestartState]:
        """Return every restart as it stood last, in their order."""
        by_number = {step.number: step for step in self.steps() if step.number}
        return [by_number[number] for number in sorted(by_number)]


def _read(line: str) -> RestartState | None:
    known = {option.name for option in fields(RestartState)}
    try:
        values = {name: value for name, value in json.loads(line).items() if name in known}
        return RestartState(**{**values, "checkpoints": tuple(values["checkpoints"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
