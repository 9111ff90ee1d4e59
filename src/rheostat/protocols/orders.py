"""The orders of the rescale protocol, which the engine's package carries out, and the number of
executors to request if the cluster manager may refuse some.

Every order is idempotent: it describes the desired state, not an action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rheostat.state.assignment import Unit


@dataclass(frozen=True, slots=True)
class Request:
    """Request ``total`` executors from the cluster; leaving ones are not counted."""

    total: int


@dataclass(frozen=True, slots=True)
class WarmUp:
    """Start to warm an executor; the facts show when it is warm."""

    executor: str


@dataclass(frozen=True, slots=True)
class Assign:
    """Send units to executors, right after a batch has ended."""

    units: Mapping[Unit, str]


@dataclass(frozen=True, slots=True)
class Hide:
    """Exclude executors from the preferences of sources; this is irreversible."""

    executors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decommission:
    """Decommission executors: they finish their tasks and end."""

    executors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kill:
    """Kill executors that were asked to leave and did not."""

    executors: tuple[str, ...]


Order: TypeAlias = Request | WarmUp | Assign | Hide | Decommission | Kill


def harmless(orders: Sequence[Order]) -> tuple[Order, ...]:
    """Return the orders that are allowed before a size is decided: those that neither request nor
    remove executors.
    """
    changes_size = (Request, Hide, Decommission, Kill)
    return tuple(order for order in orders if not isinstance(order, changes_size))


MANY_FAILURES = 100
"""An application that tolerates this many failed executors requests several at a time; any other
requests one more at a time."""

STEP = 4
"""The additional executors per request, or the present number if that is larger: each refusal costs
a call per second until the next check, and two checks scale from one executor to eight."""


def total_to_request(wanted: int, existing: int, *, refused: bool, tolerated_failures: int) -> int:
    """Return the total to request; refused executors are not part of it until one could be created.

    Spark repeats a refused request every second, counts each refusal as a failed executor, and ends
    the application after too many. Executors that wait for room are not refused: they stay
    requested, because a node autoscaler adds nodes for them.

    ``existing`` is the number of executors that run or wait for room, ``refused`` is whether the
    manager would refuse another one now, ``tolerated_failures`` is how many executors may fail
    before the application ends.
    """
    # A lower total is always granted: only additional executors can be refused.
    if wanted <= existing:
        return wanted
    if refused:
        return existing
    return min(
        wanted, existing + (max(STEP, existing) if tolerated_failures >= MANY_FAILURES else 1)
    )


def tolerated_failures(failures: str | None, initial: int) -> int:
    """Return how many failed executors an application tolerates, from its setting
    ``spark.executor.maxNumFailures`` and its initial number of executors.
    """
    if failures and failures.strip().isdecimal():
        return int(failures)
    # Spark's default, from the initial number of executors (ExecutorFailureTracker).
    return max(3, 2 * initial)
