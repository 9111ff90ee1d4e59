"""What a supervisor needs of the world: the job's process, and the state of its queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rheostat.journal.control_channel import Order


class Job(Protocol):
    """The process of the job, of which there is one at a time."""

    def start(self, order: Order) -> None:
        """Start it with an order; a process that an earlier supervisor has left ends first."""
        ...

    def process(self) -> str:
        """Tell whether it was started by this supervisor and runs: none, alive, left."""
        ...

    def stop(self) -> int:
        """End it if it runs, and return its exit code."""
        ...


class States(Protocol):
    """The state of stopped queries, by their checkpoints."""

    def partitions(self, checkpoints: Sequence[str]) -> list[int]:
        """Return the state partitions of each checkpoint that has state."""
        ...

    def uncommitted(self, checkpoint: str) -> bool:
        """Tell whether a batch is planned that is not committed."""
        ...

    def repartition(self, checkpoint: str, partitions: int, sink: str) -> str:
        """Give it so many state partitions, verified; return why that was not possible, or nothing.

        ``sink`` is the folder that the query writes files to, empty for another sink.
        """
        ...
