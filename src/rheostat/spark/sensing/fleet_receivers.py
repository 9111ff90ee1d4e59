"""What the fleets of an application ask for: told by each fleet, asked by the sensor; both live in
the driver.
"""

from __future__ import annotations

from collections.abc import Callable

ReceiverDemand = Callable[[], int | None]
"""Tells how many receivers a fleet's load asks for; None once it has ended."""

# Of the process: a fleet and the sensor know nothing of each other, only the application's id.
_fleets: dict[str, list[ReceiverDemand]] = {}


def publish(application: str, demand: ReceiverDemand) -> None:
    """Let the sensor of an application know of a fleet."""
    _fleets.setdefault(application, []).append(demand)


def wanted_receivers(application: str) -> int | None:
    """Return the receivers that all fleets of an application ask for; None where there is none."""
    demands = [demand() for demand in _fleets.get(application, ())]
    known = [count for count in demands if count is not None]
    return sum(known) if known else None
