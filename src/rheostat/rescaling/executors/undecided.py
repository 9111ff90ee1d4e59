"""What the protocol may do as long as nobody has decided a size: place state, but make no executor
come or go.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rheostat.rescaling.executors.executor_lifecycle import GOING
from rheostat.rescaling.executors.memory import Memory
from rheostat.rescaling.orders import Decommission, Hide, Kill, Order, Request


def undecided_size(memory: Memory, registered: Collection[str]) -> int:
    """Return how many executors are there for good: all but those that an earlier controller has
    asked to leave.
    """
    # They are to go whatever anybody decides now, so they are no part of the size.
    going = {executor for executor, life in memory.lives.items() if life.phase in GOING}
    return len(set(registered) - going)


def harmless(orders: Sequence[Order]) -> tuple[Order, ...]:
    """Return the orders without those that ask for a number of executors or let one go."""
    makes_one_go = (Request, Hide, Decommission, Kill)
    return tuple(order for order in orders if not isinstance(order, makes_one_go))
