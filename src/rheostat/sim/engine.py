"""The simulation: the production loop steps, the plant advances."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.guards import Guard
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.model import Memory, Record
from rheostat.ports import Journal, Policy
from rheostat.sim.plant import Ledger, Plant


@dataclass(frozen=True, slots=True)
class Run:
    """A simulated run, with its ticks unless the caller's journal recorded them."""

    ledger: Ledger
    records: tuple[Record, ...]


class NoJournal:
    """Keeps nothing: for runs of which only the ledger is asked."""

    def restore(self) -> Memory:
        """Return no memory."""
        return {}

    def append(self, record: Record, memory: Memory) -> None:
        """Drop both."""

    def halted(self) -> str:
        """Return nothing: it is never halted."""
        return ""


def simulate(
    plant: Plant,
    policy: Policy,
    guards: tuple[Guard, ...],
    *,
    until_s: float,
    interval_s: float,
    start_s: float = 0.0,
    journal: Journal | None = None,
) -> Run:
    """Run the production loop on a plant, a tick every ``interval_s`` from ``start_s`` to
    ``until_s``.

    Deterministic by seed. Without a ``journal`` the records are in the result. Raises BadInput for
    an interval or a length not above 0.
    """
    if not (math.isfinite(interval_s) and interval_s > 0):
        raise BadInput(
            f"the interval between two decisions must be above 0 seconds, but it is {interval_s}"
        )
    if not (math.isfinite(until_s) and until_s > start_s):
        raise BadInput(
            f"a simulation must end after it starts ({start_s:g} s), but it ends at {until_s}"
        )
    kept = MemoryJournal()
    loop = Loop(sensor=plant, policy=policy, guards=guards, actuator=plant, journal=journal or kept)
    # By the number of the tick: adding the interval up would drift with every addition.
    for tick in range(math.ceil((until_s - start_s) / interval_s)):
        now = start_s + tick * interval_s
        plant.advance(now)
        loop.step(now)
    # After the last tick: what it decided has its effect and its cost until the end.
    plant.advance(until_s)
    return Run(ledger=plant.ledger(), records=tuple(kept.records))
