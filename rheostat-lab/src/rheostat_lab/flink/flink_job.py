"""The parameters of a Flink job in reactive mode, and of the errors of its metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

from rheostat.errors import BadInput


@dataclass(frozen=True, slots=True, kw_only=True)
class FlinkJob:
    """A job with uniform parallelism over Kafka partitions and one slot per TaskManager; each
    number describes the job or its cluster.

    Raises BadInput for negative numbers, and for a missing rate.
    """

    rate_per_s: float
    """Rows per second of one warm task, as its CPU quota allows."""

    hosts: int = 1
    """Number of hosts of the TaskManagers; contention begins where two share one."""

    contention: float = 0.0
    """The universal scalability law's sigma: p tasks process p x rate / (1 + contention x max(0, p
    - hosts) + coherence x p x (p - 1))."""

    coherence: float = 0.0
    """The universal scalability law's kappa."""

    strain: float = 0.0
    """Maximum additional work per row while records are old, because sources that drift apart keep
    more state open."""
    strain_spread: float = 0.0
    """Exponent with which ``strain`` grows with the parallelism."""
    memory: float = 0.0
    """Maximum additional work per row while records are old on a single task, whose heap must hold
    the state; falls as 1 / tasks^2."""

    strain_after_s: float = 60.0
    """Age of the records, in seconds, at which half of the additional work is reached."""

    shuffled: bool = False
    """Whether tasks exchange records by key, so that the coldest task limits all others."""

    cold: float = 0.5
    """Share of its rate that a new TaskManager has."""

    warm_s: float = 60.0
    """Time constant of the warm-up in seconds."""

    restart_s: float = 6.0
    """Seconds without processing at a restart, including the read of the checkpoint."""

    restart_new_s: float = 0.0
    """Additional seconds if TaskManagers have joined."""
    checkpoint_s: float = 10.0
    """Interval between checkpoints."""
    checkpoint_takes_s: float = 1.0
    """Duration of a checkpoint in seconds without backpressure."""

    checkpoint_pressed_s: float = 10.0
    """Additional seconds under full backpressure, because barriers wait behind records."""

    partitions: int = 24
    base_wait_s: float = 0.1
    """Seconds that a record waits with one task that keeps up; falls as tasks^-2.5 (fetches of many
    partitions take turns)."""

    yield_share: float = 1.0
    """Rows that the sink receives per row read."""

    yield_lost_after_s: float = math.inf
    """Age of the records, in seconds, at which half of the joins find no partner."""

    cpu_idle: float = 0.05
    """CPU share of an idle TaskManager."""

    cpu_use: float = 1.0
    """CPU share of a single warm task at full load, above idle."""
    cpu_spread: float = 0.1
    """Exponent with which the CPU share of a row grows with parallelism: exchange, contention."""
    cpu_full: float = 1.0
    """CPU share of a single task with a backlog."""

    cpu_full_spread: float = 0.0
    """Exponent with which ``cpu_full`` falls with the parallelism, because tasks that wait for
    others do not reach their quota."""

    cpu_window_s: int = 30
    """Seconds over which the reported CPU share is averaged."""

    cpu_late_s: int = 0
    """Age of the reported CPU share in seconds."""

    idle_window_s: int = 15
    """Seconds over which idle time is averaged."""

    busy_calm: float = 0.4
    """Mean busy share over the operators of a job with one task that just keeps up at full load."""

    busy_power: float = 2.0
    """Exponent with which ``busy_calm`` grows with the used share of the rate."""
    busy_spread: float = 0.5
    """Exponent with which ``busy_calm`` falls with the parallelism."""
    busy_full: float = 0.6
    """Mean busy share of a single task with a backlog, which under-reports."""

    busy_full_spread: float = 0.3
    """Exponent with which ``busy_full`` falls with the parallelism."""

    busiest: float = 1.35
    """Busy share of the busiest operator relative to the mean."""

    chained: int = 1
    """Operators per task: the thesis' script for DS2 counts them as instances, so that its true
    rate per instance is smaller by this factor."""

    blocked: float = 0.1
    """Mean share of time that operators wait for the next one with a backlog."""

    waiting: float = 0.0
    """The share that warm tasks wait for a cold one, per share of the rate that is lost; it counts
    as backpressure, not as idle time."""

    cpu_noise: float = 0.0
    """Standard deviation of a single TaskManager's CPU share that the load does not explain; that
    of a mean of p is smaller by sqrt(p)."""
    cpu_noise_run: float = 0.03
    """Standard deviation of the logarithm of the CPU share from run to run."""
    busy_noise: float = 0.2
    """Standard deviation of the logarithm of busy time over minutes, unexplained by the load."""

    busy_noise_run: float = 0.06
    """Standard deviation of the logarithm of busy time from run to run."""

    pressure_full: float = 0.5
    """Backpressure of the most backpressured operator with a backlog, as a share."""

    start_s: float = 30.0
    """Seconds from the request to a TaskManager's registration."""

    start_spread: float = 0.03
    """Standard deviation of its logarithm between TaskManagers of one request."""

    stop_s: float = 6.0
    """Seconds from the request to a TaskManager's end."""

    noise: float = 0.05
    """Standard deviation of the logarithm of the rate over minutes."""

    noise_run: float = 0.05
    """Standard deviation of the logarithm of the rate from run to run: other hosts, other
    neighbors."""

    restart_noise: float = 0.3
    """Standard deviation of the logarithm of the durations of restarts and starts."""

    restart_noise_run: float = 0.0
    """Standard deviation of the logarithm of the duration of restarts from run to run."""

    warm_noise_run: float = 0.0
    """Standard deviation of the logarithm of the warm-up time from run to run."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value >= 0:
                raise BadInput(f"{field.name} of a Flink job must be at least 0, but it is {value}")
        if not self.rate_per_s > 0 or self.partitions < 1 or self.hosts < 1:
            values = f"{self.rate_per_s}, {self.partitions} and {self.hosts}"
            raise BadInput(f"a Flink job needs a rate, partitions and hosts, but they are {values}")

    def of_run(self, restarts: float, warming: float) -> FlinkJob:
        """Return the job of one run: restarts and warm-up longer by ``restarts`` and ``warming`` of
        their standard deviations.
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
        """Return the rows per second of one of ``tasks`` warm tasks with records that are ``age_s``
        seconds old.
        """
        concave = (
            1 + self.contention * max(0, tasks - self.hosts) + self.coherence * tasks * (tasks - 1)
        )
        # The universal scalability law, with contention only where tasks share a host.
        return self.rate_per_s / (concave * self.work(tasks, age_s))

    def work(self, tasks: int, age_s: float) -> float:
        """Return the work per row with records ``age_s`` seconds old, relative to fresh records."""
        if age_s <= 0:
            return 1.0
        old = age_s / (age_s + self.strain_after_s)
        return (
            1 + (self.strain * math.pow(tasks, self.strain_spread) + self.memory / tasks**2) * old
        )

    def share_joined(self, age_s: float) -> float:
        """Return the sink's rows per row read, with records ``age_s`` seconds old."""
        return self.yield_share / (1 + age_s / self.yield_lost_after_s)

    def warmth(self, age_s: float) -> float:
        """Return the share of its rate that a TaskManager has ``age_s`` seconds after it joined."""
        return 1 - (1 - self.cold) * math.exp(-max(0.0, age_s) / self.warm_s)

    def base_wait(self, tasks: int) -> float:
        """Return the mean seconds that a record waits if ``tasks`` tasks keep up."""
        return self.base_wait_s * math.pow(tasks, -2.5)
