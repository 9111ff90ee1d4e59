"""The number of receivers that the fleets of an application need: published by each fleet, read by
the sensor of the same driver.
"""

from __future__ import annotations

from collections.abc import Callable

ReceiverDemand = Callable[[], int | None]
"""Returns the number of receivers that a fleet's load requires; None once the fleet has ended."""

# A process-wide registry: a fleet and the sensor share only the application's id.
_fleets: dict[str, list[ReceiverDemand]] = {}


def publish(application: str, demand: ReceiverDemand) -> None:
    """Register a fleet's demand for the sensor of its application."""
    _fleets.setdefault(application, []).append(demand)


def wanted_receivers(application: str) -> int | None:
    """Return the number of receivers that all fleets of an application need; None without any."""
    demands = [demand() for demand in _fleets.get(application, ())]
    known = [count for count in demands if count is not None]
    return sum(known) if known else None
