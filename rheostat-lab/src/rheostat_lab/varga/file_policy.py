"""A policy that returns the number in a file, with which an experiment controls a job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rheostat.model import Decision, Memory, Observation


@dataclass(frozen=True)
class FromFile:
    """Requests the number of executors in the text of the file at ``path``."""

    path: str = ""

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return that number."""
        number = int(Path(self.path).read_text(encoding="utf-8"))
        return Decision(target=number, reason="set by the experiment"), memory
