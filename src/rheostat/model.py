"""The vocabulary: frozen values with their units in their names.

Every rate is per second, every share is 0..1, every duration is in seconds. A signal that cannot be
had is ``None``, never zero: a policy that reads ``None`` must not decide as if it had read a
number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from rheostat.errors import BadInput

Evidence: TypeAlias = Mapping[str, float | int | str | None]
"""The numbers behind a decision, by name."""

Memory: TypeAlias = Mapping[str, Any]
"""What a policy or a guard remembers between two ticks: JSON values only, so that it can be
journaled and restored."""

Places: TypeAlias = Mapping[str, Mapping[str, str]]
"""The state partitions that each executor holds, by query: ``{"1f2e3d4c": {"3": "0-5,8"}}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """The micro-batch that runs at this moment, which no progress event has reported yet."""

    elapsed_s: float
    rows: int | None = None
    tasks_done: int | None = None
    tasks_left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of the last micro-batch: rows, busy slot-seconds and the spread of its task
    times.
    """

    name: str
    upstream: tuple[str, ...] = ()
    rows_in: float | None = None
    rows_out: float | None = None
    busy_s: float | None = None
    tasks: int | None = None
    task_max_s: float | None = None
    task_median_s: float | None = None
    pending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSample:
    """What one executor showed over the tick's window."""

    cpu: float | None = None
    rows_per_s: float | None = None
    lag_rows: float | None = None
    state_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Observation:
    """The signals of a job at ``t_s``; every field but ``t_s`` may be absent (``None``).

    NaN and infinity count as absent. One observation per query; the queries of one application
    share its executors. The field names are also the columns of journals and recordings.
    """

    t_s: float
    application: str | None = None
    query: str | None = None
    executors: int | None = None
    """Registered executors, without standby executors."""

    slots_per_executor: int | None = None
    """Cores of an executor divided by ``spark.task.cpus``."""

    target: int | None = None
    """The target number of executors in force."""

    first_start_s: float | None = None
    """Time from the start of the driver until the first executor registered."""

    input_rows_per_s: float | None = None
    """Arrival rate at the source: d(latest offset)/dt."""

    inputs: Mapping[str, float] | None = None
    """Arrival rate per source, by its name."""

    processed_rows_per_s: float | None = None
    """Rows of the last batch over its duration."""

    output_rows_per_s: float | None = None
    """Rows written to the sink; absent where neither the sink nor the last stages count them, as
    with ``foreachBatch``."""

    broker_up: bool | None = None
    """Whether the Kafka brokers of ``kafka=`` answered at this tick; absent where none is
    configured."""

    lag_rows: float | None = None
    """Sum over partitions of (latest offset - committed offset); of other sources the rows that no
    batch has read, converted from ``lag_counted`` where the source does not count rows."""

    lag_by_source: Mapping[str, float] | None = None
    """Rows of ``lag_rows`` by source: of Kafka by ``topic/partition``, as far as ``topic/others``
    does not sum them up; without ``kafka=`` those at the planning of the last batch."""

    lag_counted: float | None = None
    """The backlog as its source counts it, in ``lag_unit``; absent with Kafka."""

    lag_unit: str | None = None
    """``rows``, ``bytes``, ``files`` or ``offsets``."""

    lag_rows_upper: float | None = None
    """The upper bound of Varga et al. (eq. 2): over tasks, the largest lag x its partitions."""

    lag_s: float | None = None
    """Event-time lag: how long the oldest row that is not committed has waited. From the arrival
    curve; absent where the curve begins after that row's arrival."""

    lag_mean_s: float | None = None
    """How long the rows that are not committed have waited, mean over these rows."""

    lag_littles_law_s: float | None = None
    """Estimate in place of an absent ``lag_s``: ``lag_rows`` over the current arrival rate. Wrong
    by any factor where the rate has just changed."""

    latency_s: float | None = None
    """Commit time of a row's batch minus its append time, mean over the last batch."""

    busy: float | None = None
    """Share of slot time spent in tasks."""

    idle: float | None = None
    backpressure_ms_per_s: float | None = None
    cpu: float | None = None
    """CPU share per slot, JVM only."""

    cpu_python: float | None = None
    """CPU share per slot, Python workers only."""

    memory_bytes: int | None = None
    """Peak memory over the executors."""

    load_per_core: float | None = None
    """Processes that run or wait for a CPU, mean of a minute, over the cores of the executors'
    computer (``getloadavg``)."""

    batch_s: float | None = None
    """Duration of the last micro-batch."""

    batch_parts_s: Mapping[str, float] | None = None
    """Its parts, as Spark names them."""
    batch_rows: int | None = None
    trigger_s: float | None = None
    """Trigger interval; 0 where batches run back to back."""

    real_time_s: float | None = None
    """Duration of a batch in real-time mode; absent with other triggers. The times of its batches
    and ``in_flight`` are then absent: a batch that lasts is not late."""

    real_time_slots: int | None = None
    """Slots that the running real-time batch holds: the tasks of all its stages at once."""

    in_flight: InFlight | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    state_partitions: int | None = None
    receivers: int | None = None
    """Receivers that the load of a fleet requires in this application; each holds a core."""

    stages: tuple[Stage, ...] | None = None
    by_executor: Mapping[str, ExecutorSample] | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if name != "t_s" and isinstance(value, float) and not math.isfinite(value):
                object.__setattr__(self, name, None)

    def __repr__(self) -> str:
        """Return the present signals only: most are absent in any one observation."""
        signals = ((name, getattr(self, name)) for name in self.__slots__)
        return f"Observation({', '.join(f'{n}={v!r}' for n, v in signals if v is not None)})"

    @property
    def size(self) -> int | None:
        """The current size: the target in force, else the registered executors."""
        return self.target if self.target is not None else self.executors

    @property
    def wait_s(self) -> float | None:
        """The time rows wait: ``lag_s``, else its estimate by Little's law."""
        return self.lag_s if self.lag_s is not None else self.lag_littles_law_s


@dataclass(frozen=True, slots=True)
class ReplaceExecutor:
    """Start another executor, then remove this one."""

    executor: str

    def __str__(self) -> str:
        """Return the action as the journal records it."""
        return f"replace executor {self.executor}"


@dataclass(frozen=True, slots=True)
class RepartitionState:
    """Give the query other state partitions; ``command`` is what a user runs for it."""

    partitions_before: int
    partitions: int
    command: str

    def __str__(self) -> str:
        """Return the action as the journal records it."""
        return (
            f"its {self.partitions_before} state partitions limit it, {self.partitions} would"
            f" suffice: {self.command}"
        )


@dataclass(frozen=True, slots=True)
class Recommendation:
    """An action that only a person can carry out."""

    text: str

    def __str__(self) -> str:
        """Return the action as the journal records it."""
        return self.text


Action: TypeAlias = ReplaceExecutor | RepartitionState | Recommendation


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How many executors a job should have, with the reason in words and in numbers."""

    target: int
    reason: str
    evidence: Evidence = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    """Changes of something other than the size."""

    limiting_tasks: int | None = None
    """The number of parallel tasks, where it is what limits the job."""


def hold(observation: Observation, reason: str, evidence: Evidence | None = None) -> Decision:
    """Return the decision to keep the current size."""
    return Decision(target=observation.size or 1, reason=reason, evidence=evidence or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """The latency objective: at least 99 % of rows are committed within ``latency_s`` seconds of
    their arrival.
    """

    latency_s: float = 10.0

    def __post_init__(self) -> None:
        is_number = isinstance(self.latency_s, int | float) and not isinstance(self.latency_s, bool)
        if not is_number or self.latency_s == math.inf:
            raise BadInput(
                "the latency objective must be a number of seconds, such as 10, but it is"
                f" {self.latency_s!r}"
            )
        if not self.latency_s > 0:
            raise BadInput(
                f"the latency objective must be above 0 seconds, but it is {self.latency_s}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Floor and ceiling of the number of executors; never crossed."""

    min_executors: int = 1
    max_executors: int = 8

    def __post_init__(self) -> None:
        for which, value in (("min", self.min_executors), ("max", self.max_executors)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise BadInput(f"{which} executors must be a whole number, but it is {value!r}")
        if self.min_executors < 1:
            raise BadInput(f"min executors must be at least 1, but it is {self.min_executors}")
        if self.min_executors > self.max_executors:
            raise BadInput(
                f"min executors ({self.min_executors}) is above max executors"
                f" ({self.max_executors})"
            )

    @classmethod
    def between(cls, low: int, high: int) -> Limits:
        """Return the limits from ``low`` to ``high``."""
        return cls(min_executors=low, max_executors=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Whether this job can be rescaled from here; ``cannot`` lists what is not possible and why."""

    can_scale: bool
    cannot: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardChange:
    """A guard changed a decision: from what to what, and why."""

    guard: str
    before: int
    after: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescaling:
    """Where the change of size stands: ``steady``, ``growing``, ``shrinking``, ``balancing``,
    ``advised`` or ``blocked``; at a tick without a decision ``idle``, ``halted`` or ``failed``; in
    the record of the initial size ``starting``.
    """

    phase: str
    detail: str = ""
    memory: Memory = field(default_factory=dict, compare=False, repr=False)
    """What the actuator remembers; the journal keeps it with that of the policy, records leave it
    out."""

    places: Places = field(default_factory=dict)
    """Where the state is, at a tick at which that is recorded: after a change, and once an hour."""

    def __str__(self) -> str:
        """Return phase and detail in one line; a detail may begin with the phase itself."""
        if self.detail.startswith(self.phase):
            return self.detail
        return ", ".join(filter(None, (self.phase, self.detail)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One tick of the loop, as the journal keeps it."""

    t_s: float
    observation: Observation | None
    queries: tuple[Observation, ...]
    raw: Decision | None
    guards: tuple[GuardChange, ...]
    target: int | None
    actions: tuple[str, ...]
    """The actions of the decision, as text."""
    rescaling: Rescaling

    def __str__(self) -> str:
        """Return size, reason and progress in one line."""
        size = self.observation.size if self.observation else None
        sizes = [f"{n}" for n in dict.fromkeys((size, self.target)) if n is not None]
        # Each guard extends the reason that it received, so that the last one is complete.
        reason = self.guards[-1].reason if self.guards else self.raw.reason if self.raw else ""
        return f"{' -> '.join(sizes) or 'unknown number of'} executors ({self.rescaling})" + (
            f": {reason}" if reason else ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of ``rheostat doctor``: ``good``, an ``advice``, or why a feature stays ``idle``.

    ``setting`` is the setting to make, as ``name=value``, if that is the advice.
    """

    topic: str
    state: Literal["good", "advice", "idle"]
    line: str
    setting: str | None = None
