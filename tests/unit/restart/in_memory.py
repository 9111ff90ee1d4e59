"""In-memory fakes of a job and of its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from rheostat.journal.control_channel import ControlChannel, Order, Report


class MemoryJob:
    """A job that starts and drains at once and then ends by itself; with ``stays`` it must be
    stopped, with ``hangs`` it never drains.
    """

    def __init__(
        self,
        channel: ControlChannel,
        *,
        checkpoints: tuple[str, ...] = (),
        sinks: Mapping[str, str] | None = None,
    ) -> None:
        self.orders: list[Order] = []
        self.stays = self.hangs = False
        self.code = 0
        self._channel = channel
        self._checkpoints = checkpoints
        self._sinks = {} if sinks is None else sinks
        self._state: Literal["none", "alive", "ended"] = "none"

    def start(self, order: Order) -> None:
        """Start the job with an order."""
        self.orders.append(order)
        self._channel.write_order(order)
        self._state = "alive"

    def process(self) -> Literal["none", "alive", "ended"]:
        """Return whether this supervisor has started the process, and whether it runs."""
        return self._state

    def stop(self) -> int:
        """Stop the job if it runs, and return its exit code."""
        self._state = "none" if self._state == "none" else "ended"
        return self.code

    def go_on(self, now: float) -> None:
        """Let the job proceed to ``now``."""
        order = self._channel.order()
        if order is None or self._state != "alive":
            return
        drained = (order.drain or order.once) and not self.hangs
        self._channel.write_report(
            Report(
                run=order.run,
                pid=0,
                began="",
                works_s=now,
                drained_s=now if drained else None,
                checkpoints=self._checkpoints,
                sinks=self._sinks,
            )
        )
        if drained and not self.stays:
            self._state = "ended"


class MemoryStates:
    """Checkpoints as a mapping of names to state partitions; ``planned`` are those with a planned
    but uncommitted batch, ``refusal`` is the reason for rejecting a repartition.
    """

    def __init__(self, partitions: dict[str, int]) -> None:
        self.by_checkpoint = partitions
        self.planned: set[str] = set()
        self.refusal = ""
        self.repartitioned: list[tuple[str, int, str]] = []

    def partitions(self, checkpoints: Sequence[str]) -> list[int]:
        """Return the state partitions of each checkpoint that has state."""
        return [
            self.by_checkpoint[checkpoint]
            for checkpoint in checkpoints
            if checkpoint in self.by_checkpoint
        ]

    def uncommitted(self, checkpoint: str) -> bool:
        """Return whether a batch is planned but not committed."""
        return checkpoint in self.planned

    def repartition(self, checkpoint: str, partitions: int, sink: str) -> str:
        """Set the number of state partitions; return why that was impossible, or ""."""
        if not self.refusal:
            self.repartitioned.append((checkpoint, partitions, sink))
            self.by_checkpoint[checkpoint] = partitions
        return self.refusal
