"""A queue with a known theory on the plants' engine, which validates the engine."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from rheostat.errors import BadInput
from rheostat.signals.statistics.mmk_queue import Station
from rheostat.sim.engine import Events
from rheostat.sim.noise import streams

LAWS = ("exponential", "deterministic")
_BLOCK = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSpec:
    """M/M/c (exponential service) or M/D/c (deterministic): Poisson arrivals, ``servers`` equal
    servers, first come first served.

    Raises BadInput for an invalid queue, and for one without a steady state.
    """

    servers: int
    arrival_per_s: float
    service_per_s: float
    """Customers that one server serves per second."""

    law: str = "exponential"

    def __post_init__(self) -> None:
        if self.servers < 1:
            raise BadInput(f"a queue needs 1 server or more, but it has {self.servers}")
        for name, value in (("arrival", self.arrival_per_s), ("service", self.service_per_s)):
            if not (math.isfinite(value) and value > 0):
                raise BadInput(f"{name} must be a rate above 0 per second, but it is {value}")
        if self.law not in LAWS:
            raise BadInput(
                f"the law of the service must be {' or '.join(LAWS)}, but it is {self.law!r}"
            )
        if self.load >= 1:
            able = (
                f"{self.servers} server(s) at {self.service_per_s:g} per second can do"
                f" {self.servers * self.service_per_s:g}"
            )
            raise BadInput(
                f"{self.arrival_per_s:g} arrive per second, but {able}: the queue grows without end"
            )

    @property
    def load(self) -> float:
        """The busy share of a server: arrival / (servers x service)."""
        return self.arrival_per_s / (self.servers * self.service_per_s)

    @property
    def wait_s(self) -> float | None:
        """The theoretical mean wait before service in seconds: Erlang C for M/M/c, Pollaczek and
        Khinchine for M/D/1, otherwise None.
        """
        if self.law == "deterministic":
            return (
                self.load / (2 * self.service_per_s * (1 - self.load))
                if self.servers == 1
                else None
            )
        station = Station(lam=self.arrival_per_s, mu=self.service_per_s)
        for _ in range(self.servers):
            station = station.with_one_more()
        return station.time_s - 1 / self.service_per_s


class Queue:
    """One run: ``customers`` arrive, and it continues until all have left."""

    def __init__(
        self,
        spec: QueueSpec,
        customers: int,
        arriving: np.random.Generator,
        serving: np.random.Generator,
    ) -> None:
        self.events = Events()
        self.waits_s: list[float] = []
        """Waits in the order in which service began, which is that of the arrivals."""
        self.times_s: list[float] = []
        self.arrived = 0
        self.number_s = 0.0
        """The integral over time of the number in the queue and in service."""
        self._customers, self._servers = customers, spec.servers
        self._gap = partial(next, _exponential(arriving, spec.arrival_per_s))
        self._service: Callable[[], float]
        exact_s = 1 / spec.service_per_s
        self._service = (
            (lambda: exact_s)
            if spec.law == "deterministic"
            else partial(next, _exponential(serving, spec.service_per_s))
        )
        self._waiting: deque[float] = deque()
        self._busy = 0
        self._changed_s = 0.0
        self.events.at(self._gap(), self._arrive)

    @property
    def left(self) -> int:
        """Number of customers that have left."""
        return len(self.times_s)

    @property
    def inside(self) -> int:
        """Number of customers that wait or are served."""
        return self._busy + len(self._waiting)

    def run(self) -> Queue:
        """Run to the end."""
        while self.events.run_next():
            pass
        return self

    def _arrive(self, now: float) -> None:
        self._count(now)
        self.arrived += 1
        if self._busy < self._servers:
            self._busy += 1
            self._serve(now, now)
        else:
            self._waiting.append(now)
        # Arrivals end here, not the run: all customers are served, or only the short waits would
        # count at the end.
        if self.arrived < self._customers:
            self.events.at(now + self._gap(), self._arrive)

    def _serve(self, came_s: float, now: float) -> None:
        self.waits_s.append(now - came_s)
        self.events.at(now + self._service(), partial(self._leave, came_s))

    def _leave(self, came_s: float, now: float) -> None:
        self._count(now)
        self.times_s.append(now - came_s)
        if self._waiting:
            self._serve(self._waiting.popleft(), now)
        else:
            self._busy -= 1

    def _count(self, now: float) -> None:
        self.number_s += self.inside * (now - self._changed_s)
        self._changed_s = now


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """Theory and simulation: mean wait with confidence interval, Little's law, conservation."""

    theory_wait_s: float | None
    wait_s: float
    wait_low_s: float
    wait_high_s: float
    confidence: float
    within: bool | None
    """Whether the theory is within the interval; None without a theory."""

    number: float
    """Mean number of customers inside, from the integral over time."""
    rate_x_time: float
    """Arrival rate x mean time inside, from the customers; equal to ``number`` by Little's law."""

    arrived: int
    left: int
    inside: int


def validate(
    spec: QueueSpec,
    *,
    seed: int = 0,
    customers: int = 20_000,
    runs: int = 20,
    confidence: float = 0.99,
) -> Validation:
    """Simulate ``runs`` independent runs and compare; the first customers of each run (a fifth, or
    ten relaxation times) are excluded.

    The interval is Student's over the means of the runs. Raises BadInput for fewer than two runs or
    fewer than 100 customers.
    """
    from scipy.special import stdtrit  # only this needs it

    if runs < 2 or customers < 100:
        raise BadInput(
            f"an interval needs 2 runs or more of 100 customers or more, but there are {runs} of"
            f" {customers}"
        )
    warm_up = min(50 * customers, max(customers // 5, round(10 * _relaxation(spec))))
    # Two per run, so that arrivals and service do not share draws.
    generators = streams(seed, 2 * runs)
    done = [
        Queue(spec, warm_up + customers, *generators[2 * n : 2 * n + 2]).run() for n in range(runs)
    ]
    means = np.array([np.mean(queue.waits_s[warm_up:]) for queue in done])
    # Student's interval over the means of runs, because waits within a run are dependent.
    half = float(stdtrit(runs - 1, 0.5 + confidence / 2) * means.std(ddof=1) / math.sqrt(runs))
    wait_s, theory = float(means.mean()), spec.wait_s
    length_s = sum(queue.events.now for queue in done)
    arrived, left = sum(queue.arrived for queue in done), sum(queue.left for queue in done)
    return Validation(
        theory_wait_s=theory,
        wait_s=wait_s,
        wait_low_s=wait_s - half,
        wait_high_s=wait_s + half,
        confidence=confidence,
        within=None if theory is None else abs(wait_s - theory) <= half,
        number=sum(queue.number_s for queue in done) / length_s,
        rate_x_time=(arrived / length_s) * sum(sum(queue.times_s) for queue in done) / max(1, left),
        arrived=arrived,
        left=left,
        inside=sum(queue.inside for queue in done),
    )


def _relaxation(spec: QueueSpec) -> float:
    """Return the customers that arrive in the relaxation time of the queue, 1 / (sqrt(c mu) -
    sqrt(lambda))^2.
    """
    return (
        spec.arrival_per_s
        / (math.sqrt(spec.servers * spec.service_per_s) - math.sqrt(spec.arrival_per_s)) ** 2
    )


def _exponential(generator: np.random.Generator, rate_per_s: float) -> Iterator[float]:
    while True:
        yield from generator.exponential(1 / rate_per_s, _BLOCK).tolist()
