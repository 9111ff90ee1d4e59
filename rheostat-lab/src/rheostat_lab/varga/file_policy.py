"""A policy that asks for the number that stands in a file: an experiment's own hand on a job."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rheostat.model import Decision, Memory, Observation


@dataclass(frozen=True)
class FromFile:
    """Wants as many executors as the text of the file at ``path`` says."""

    path: str = ""

    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return that number."""
        number = int(Path(self.path).read_text(encoding="utf-8"))
        return Decision(target=number, reason="the experiment says so"), memory
