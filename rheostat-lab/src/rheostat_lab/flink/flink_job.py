"""What a Flink job in reactive mode is made of: capacity, restarts, checkpoints and what its
metrics make of the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

from rheostat.errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class FlinkJob:
    """A job with uniform parallelism over Kafka partitions, one slot a TaskManager; every number
    belongs to the job or its cluster.

    Raises BadInput for a number that is negative, and for no rate at all.
    """

    rate_per_s: float
    """Rows per second that one warm task works off: what its CPU quota allows."""

    hosts: int = 1
    """TaskManagers are spread over so many hosts: contention begins where two share one."""

    contention: float = 0.0
    """The universal scalability law's sigma: p tasks do p x rate / (1 + contention x max(0, p -
    hosts) + coherence x p x (p - 1))."""

    coherence: float = 0.0
    """Its kappa."""

    strain: float = 0.0
    """More work per row while records are old, at most: sources that drift apart keep more state
    open."""
    strain_spread: float = 0.0
    """How it grows with parallelism, as a power."""
    memory: float = 0.0
    """More work per row while records are old, at most, on a single task: state that one heap must
    hold; falls as 1 / tasks^2."""

    strain_after_s: float = 60.0
    """Age of the records at which half of it is there."""

    shuffled: bool = False
    """Tasks exchange records by key, so that the coldest one holds all back."""

    cold: float = 0.5
    """Share of its rate that a fresh TaskManager has."""

    warm_s: float = 60.0
    """Time constant with which it warms."""

    restart_s: float = 6.0
    """Seconds without processing at a restart, checkpoint read included."""

    restart_new_s: float = 0.0
    """Seconds more where TaskManagers have joined."""
    checkpoint_s: float = 10.0
    """Interval between checkpoints."""
    checkpoint_takes_s: float = 1.0
    """Duration of a checkpoint where nothing is backpressured."""

    checkpoint_pressed_s: float = 10.0
    """Seconds more under full backpressure: barriers wait behind records."""

    partitions: int = 24
    base_wait_s: float = 0.1
    """Wait of a record with one task that keeps up; falls as tasks^-2.5 (fetches of many partitions
    take turns)."""

    yield_share: float = 1.0
    """Rows the sink receives per row read."""

    yield_lost_after_s: float = math.inf
    """Age of the records at which half of the joins no longer find their partner."""

    cpu_idle: float = 0.05
    """CPU share of a TaskManager that has nothing to do."""

    cpu_use: float = 1.0
    """CPU share of a warm task alone that does all it can, above idle."""
    cpu_spread: float = 0.1
    """How the CPU share of a row grows with parallelism, as a power: exchange, contention."""
    cpu_full: float = 1.0
    """CPU share of a single task with a backlog."""

    cpu_full_spread: float = 0.0
    """How that falls with parallelism, as a power: tasks that wait for others do not reach their
    quota."""

    cpu_window_s: int = 30
    """Over how long the CPU share is averaged before it is seen."""

    cpu_late_s: int = 0
    """How old it is then."""

    idle_window_s: int = 15
    """Over how long idle time is averaged."""

    busy_calm: float = 0.4
    """Mean busy share over the operators of a job of one task that just keeps up with all it can
    do."""

    busy_power: float = 2.0
    """How it grows with the share of the rate that is used, as a power."""
    busy_spread: float = 0.5
    """How it falls with parallelism, as a power."""
    busy_full: float = 0.6
    """Mean busy share of a single task with a backlog: it under-reports."""

    busy_full_spread: float = 0.3
    """How that falls with parallelism, as a power."""

    busiest: float = 1.35
    """Busy of the busiest operator over the mean."""

    chained: int = 1
    """Operators in a task: the thesis' script for DS2 counts them as instances of it, so a true
    rate per instance is so much smaller."""

    blocked: float = 0.1
    """Mean share of time that operators wait for the next one with a backlog."""

    waiting: float = 0.0
    """The same where warm tasks wait for a cold one, per share of the rate that is lost so:
    backpressure, not idleness."""

    cpu_noise: float = 0.0
    """Standard deviation of a single TaskManager's CPU share that the load does not explain; of a
    mean of p it is sqrt(p) less."""
    cpu_noise_run: float = 0.03
    """Standard deviation of the logarithm of the CPU share from run to run."""
    busy_noise: float = 0.2
    """Standard deviation of the logarithm of busy time over minutes that the load does not
    explain."""

    busy_noise_run: float = 0.06
    """The same from run to run."""

    pressure_full: float = 0.5
    """Backpressure of the most backpressured operator with a backlog, as a share."""

    start_s: float = 30.0
    """Seconds from the request to a TaskManager's registration."""

    start_spread: float = 0.03
    """Standard deviation of its logarithm between TaskManagers that were asked for at once."""

    stop_s: float = 6.0
    """Seconds from the request to a TaskManager's end."""

    noise: float = 0.05
    """Standard deviation of the logarithm of the rate over minutes."""

    noise_run: float = 0.05
    """The same from run to run: other hosts, other neighbours."""

    restart_noise: float = 0.3
    """Standard deviation of the logarithm of a restart's length and of a start's."""

    restart_noise_run: float = 0.0
    """The same of a restart's length from run to run."""

    warm_noise_run: float = 0.0
    """Standard deviation of the logarithm of the time of warming from run to run."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value >= 0:
                raise BadInput(f"{field.name} of a Flink job must be at least 0, but it is {value}")
        if not self.rate_per_s > 0 or self.partitions < 1 or self.hosts < 1:
            values = f"{self.rate_per_s}, {self.partitions} and {self.hosts}"
            raise BadInput(f"a Flink job needs a rate, partitions and hosts, but they are {values}")

    def of_run(self, restarts: float, warming: float) -> FlinkJob:
        """Return the job as one run of it is: restarts and warming longer by ``restarts`` and
        ``warming`` of their deviations.
        """
        longer = math.exp(self.restart_noise_run * restarts)
        warm_s = self.warm_s * math.exp(self.warm_noise_run * warming)
        return replace(
            self,
            restart_s=self.restart_s * longer,
            restart_new_s=self.restart_new_s * longer,
            warm_s=warm_s,
        )

    def task_rate(self, tasks: int, age_s: float) -> float:
        """Return the rows per second of one of ``tasks`` warm tasks whose records are ``age_s``
        old.
        """
        concave = (
            1 + self.contention * max(0, tasks - self.hosts) + self.coherence * tasks * (tasks - 1)
        )
        # The universal scalability law, with contention only where tasks share a host.
        return self.rate_per_s / (concave * self.work(tasks, age_s))

    def work(self, tasks: int, age_s: float) -> float:
        """Return the work per row, relative to fresh records, where they are ``age_s`` old."""
        if age_s <= 0:
            return 1.0
        old = age_s / (age_s + self.strain_after_s)
        return (
            1 + (self.strain * math.pow(tasks, self.strain_spread) + self.memory / tasks**2) * old
        )

    def share_joined(self, age_s: float) -> float:
        """Return the rows that the sink receives per row read, where records are ``age_s`` old."""
        return self.yield_share / (1 + age_s / self.yield_lost_after_s)

    def warmth(self, age_s: float) -> float:
        """Return the share of its rate that a TaskManager has ``age_s`` seconds after it joined."""
        return 1 - (1 - self.cold) * math.exp(-max(0.0, age_s) / self.warm_s)

    def base_wait(self, tasks: int) -> float:
        """Return the mean seconds that a record waits where ``tasks`` tasks keep up."""
        return self.base_wait_s * math.pow(tasks, -2.5)
