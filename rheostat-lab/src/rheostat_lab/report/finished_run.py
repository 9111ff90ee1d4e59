"""A finished run as values, from which everything that is shown is derived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.model import Limits, Record, Slo


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """A finished micro-batch; its rows are ``first_row`` to ``end_row`` - 1, counted from the
    creation of the topic over all partitions.
    """

    first_row: int
    end_row: int
    start_s: float
    commit_s: float
    rows: int
    parts_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds by part of the batch, by Spark's names; empty if unknown."""


@dataclass(frozen=True, slots=True)
class ExecutorLife:
    """When an executor was requested, registered and removed, in Unix seconds.

    The request is None if it is unknown, and the registration counts instead; an executor that
    outlived the run has no ``removed_s``.
    """

    id: str
    requested_s: float | None
    registered_s: float
    removed_s: float | None


@dataclass(frozen=True, slots=True)
class Ramp:
    """The marked ramp of the load, in Unix seconds."""

    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class MachineSample:
    """How busy this machine was up to ``t_s`` (Unix seconds), per core: 1 is all cores in use."""

    t_s: float
    cpu: float
    """CPU used by all processes since the previous sample."""

    own_cpu: float | None
    """The part of ``cpu`` that the run's own processes used; None if it cannot be determined."""

    load: float | None
    """Load average of a minute (``getloadavg``)."""


@dataclass(frozen=True, slots=True)
class ReceiverCount:
    """The number of serving and of requested receivers at ``t_s`` (Unix seconds)."""

    t_s: float
    serving: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Overhead:
    """CPU seconds that the autoscaler used, by part, and the seconds over which they were used."""

    cpu_s: Mapping[str, float]
    elapsed_s: float

    @property
    def core_share(self) -> float | None:
        """CPU seconds per second of one core; None before any time has passed."""
        return sum(self.cpu_s.values()) / self.elapsed_s if self.elapsed_s > 0 else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the sink contains exactly the result of a batch computation over the same topics, and
    the differences.

    ``rows_in`` are the events in the topics, ``rows_out`` the distinct rows in the sink.
    ``missing`` rows are absent, ``duplicated`` rows are repeated, and ``wrong`` rows have other
    contents or should not exist.
    """

    exact: bool
    rows_in: int
    rows_out: int
    missing: int
    duplicated: int
    wrong: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A finished run; times are Unix seconds. The measured time is ``start_s`` to ``end_s``, from
    the begin of the load to the last row's commit.
    """

    title: str
    query: str
    policy: str
    slo: Slo
    limits: Limits
    trigger_s: float
    interval_s: float
    service_ms: float
    start_s: float
    end_s: float
    warm_up_s: float = 0.0
    """Seconds at the start whose rows are excluded from the latencies."""

    slots_per_executor: int = 1
    records: Sequence[Record]
    curve: Sequence[tuple[float, float]]
    """The arrival curve: (Unix seconds, rows so far)."""

    batches: Sequence[CommittedBatch]
    executors: Sequence[ExecutorLife]
    ramp: Ramp | None = None
    failed_tasks: int = 0
    failed_batches: int = 0
    overhead: Overhead | None = None
    verdict: Verdict | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further settings as text, for the report."""

    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Sequence[MachineSample] = ()
    """How busy the machine was, in order of time."""

    receivers: Sequence[ReceiverCount] = ()
    """The receivers over time, if the run had a fleet of them."""

    journal: Path | None = None
    """Folder of the journal; the report links to it."""

    driver_log: Path | None = None
    """The log file of Spark's driver."""

    day_s: float | None = None
    """Length of a day in seconds, if the run consists of several days."""

    price_per_slot_hour: float | None = None
    """Price of one slot-hour, in any currency; None if no price was given."""

    @property
    def duration_s(self) -> float:
        """The measured time in seconds."""
        return self.end_s - self.start_s
