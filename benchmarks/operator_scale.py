"""Measures the additional delay until executors work if a size is set through ``scale`` and the
operator instead of through the driver's control API: real Spark on a real control plane, 1 -> 3
executors, in pairs.

Run: python benchmarks/operator_scale.py [--pairs 10] [--out FILE]. A pair takes about 40 s on two
otherwise idle cores.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.e2e.operated_spark import Driver, Place, resource, say, until

from rheostat_lab.clusters.kubernetes.objects import create, delete

NAME, SMALL, LARGE = "live", 1, 3
TIMES = ("decided", "at work")


def ask_operator(place: Place) -> Callable[[int], None]:
    """Return a function that writes ``scale``, once the operator has adopted the driver."""
    create(place.plane, resource(NAME))
    until(lambda: place.ready(NAME) == "Sized", "the operator has adopted the driver")
    until(
        lambda: "replicas" in place.get(resource(NAME))["spec"], "the driver has the size of scale"
    )
    return lambda size: place.scale(NAME, size)


def ask_agent(place: Place, driver: Driver) -> Callable[[int], None]:
    """Return a function that calls the control API, with no resource that also sets the size."""
    if place.resources():
        delete(place.plane, resource(NAME))
        until(lambda: not place.resources(), "the resource is deleted")
    return lambda size: driver.post("/scale", {"executors": size})


def took_s(driver: Driver, ask: Callable[[int], None]) -> dict[str, float]:
    """Return the seconds from the request to the decision, and until all have ended a task."""
    begun = time.monotonic()
    ask(LARGE)
    until(lambda: (driver.status() or {}).get("target") == LARGE, "the decision is recorded")
    decided_s = time.monotonic() - begun
    until(lambda: driver.at_work() == LARGE, "all executors have completed a task")
    times_s = dict(zip(TIMES, (decided_s, time.monotonic() - begun), strict=True))
    ask(SMALL)
    until(lambda: driver.at_work() == SMALL, "the additional executors have left")
    time.sleep(2.0)  # executors that are shutting down take no CPU from the next measurement
    return times_s


def measure(place: Place, pairs: int) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Return pairs of times, direct and through the operator; the order alternates."""
    create(place.plane, place.pod(NAME))
    driver = Driver(place, NAME)
    until(lambda: driver.at_work() == SMALL, "the query is running")
    limits = {"min": SMALL, "max": 4}
    driver.post("/sizing", {"mode": "external", "size": SMALL, "limits": limits})
    took_s(driver, ask_agent(place, driver))  # warm-up, not measured
    measured = []
    for number in range(pairs):
        pair = {}
        for way in ("alone", "operator") if number % 2 else ("operator", "alone"):
            alone = way == "alone"
            pair[way] = took_s(driver, ask_agent(place, driver) if alone else ask_operator(place))
        say(f"{number + 1}/{pairs}: {pair}")
        measured.append((pair["alone"], pair["operator"]))
    return measured


def interval(values: list[float]) -> tuple[float, float, float]:
    """Return two of the values between which the median lies, and the confidence, at least 95 %
    with six values; it is a sign test and assumes no distribution.
    """
    ranked, n = sorted(values), len(values)
    for cut in range(n // 2, 0, -1):
        outside = 2 * sum(math.comb(n, k) for k in range(cut)) / 2**n
        if outside <= 0.05:
            return ranked[cut - 1], ranked[n - cut], 1 - outside
    return ranked[0], ranked[-1], 1 - 2 / 2**n


def report(pairs: list[tuple[dict[str, float], dict[str, float]]], what: str) -> str:
    """Return the times of both ways and their difference as text."""
    alone, behind = ([pair[way][what] for pair in pairs] for way in (0, 1))
    later = [one - other for one, other in zip(behind, alone, strict=True)]
    low, high, sure = interval(later)
    return (
        f"{what}, n = {len(pairs)} pairs: alone median {statistics.median(alone):.2f} s"
        f" ({min(alone):.2f} to {max(alone):.2f}), through the operator"
        f" {statistics.median(behind):.2f} s ({min(behind):.2f} to {max(behind):.2f});"
        f" later by {statistics.median(later):.2f} s at the median ({low:.2f} to {high:.2f} s,"
        f" {100 * sure:.0f} % sure)"
    )


def main(arguments: list[str]) -> None:
    """Print both times of both ways, and their paired differences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--out", type=Path, help="file for all times, as JSON")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        try:
            place.start()
            measured = measure(place, given.pairs)
        finally:
            place.stop()
    for what in TIMES:
        sys.stdout.write(report(measured, what) + "\n")
    if given.out:
        given.out.write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
