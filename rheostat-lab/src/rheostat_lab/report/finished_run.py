"""A finished run as values: what was asked, what was recorded, and how it ended; everything that is
shown is made from this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.model import Limits, Record, Slo


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """A finished micro-batch; rows are counted from the topic's creation, over all partitions:
    ``first_row`` to ``end_row`` - 1.
    """

    first_row: int
    end_row: int
    start_s: float
    commit_s: float
    rows: int
    parts_s: Mapping[str, float] = field(default_factory=dict)
    """What it spent its time on, as Spark names the parts; empty where that is unknown."""


@dataclass(frozen=True, slots=True)
class ExecutorLife:
    """When an executor was requested, registered and gone, in Unix seconds.

    An unknown request is None, and the registration counts for it; an executor that outlived the
    run has no ``removed_s``.
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
    """How busy this computer was up to ``t_s`` (Unix seconds), each number per core: 1 is every
    core in use.
    """

    t_s: float
    cpu: float
    """CPU in use by anybody, since the sample before."""

    own_cpu: float | None
    """The part of it that the run's own processes used; None where that cannot be told."""

    load: float | None
    """Processes that run or wait for a CPU, mean of a minute (``getloadavg``)."""


@dataclass(frozen=True, slots=True)
class ReceiverCount:
    """How many receivers served at ``t_s`` (Unix seconds), and how many were wanted."""

    t_s: float
    serving: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Overhead:
    """CPU seconds that the autoscaler cost, by part, and the seconds over which they were spent."""

    cpu_s: Mapping[str, float]
    elapsed_s: float

    @property
    def core_share(self) -> float | None:
        """CPU seconds per second of one core; None before any time has passed."""
        return sum(self.cpu_s.values()) / self.elapsed_s if self.elapsed_s > 0 else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the sink holds exactly what a batch computation over the same topic gives, and where
    it does not.

    ``rows_in`` are the events in the topics, ``rows_out`` the distinct rows in the sink.
    ``missing`` rows lack, ``duplicated`` rows are there again, ``wrong`` rows have other contents
    or should not be there.
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
    """A finished run; times are Unix seconds, ``start_s`` to ``end_s`` is what is measured (the
    load's begin to the last row's commit).
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
    """Rows that arrived in the first seconds and are left out of the latencies."""

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
    """More settings in words, for the report."""

    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Sequence[MachineSample] = ()
    """How busy the computer was, in order of time."""

    receivers: Sequence[ReceiverCount] = ()
    """The receivers over time, where the run had a fleet of them."""

    journal: Path | None = None
    """Folder of the journal; the report links to it."""

    driver_log: Path | None = None
    """Where Spark's own log lines went."""

    day_s: float | None = None
    """Length of a day, where the run is several days one after the other."""

    price_per_slot_hour: float | None = None
    """Money for an hour of one slot, in any currency; None where nobody asked for it."""

    @property
    def duration_s(self) -> float:
        """The measured time."""
        return self.end_s - self.start_s
