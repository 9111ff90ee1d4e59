"""The values that all modules share: frozen dataclasses with units in their field names.

Rates are per second, shares are 0..1, and durations are in seconds. An absent signal is ``None``,
never zero, and a policy must not treat ``None`` as a number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from rheostat.actions import Action
from rheostat.errors import BadInput

Evidence: TypeAlias = Mapping[str, float | int | str | None]
"""The numbers behind a decision, by name."""

Memory: TypeAlias = Mapping[str, Any]
"""What a policy or a guard remembers between two ticks; JSON values only, so that the journal can
store and restore it."""

Places: TypeAlias = Mapping[str, Mapping[str, str]]
"""The state partitions that each executor holds, by query: ``{"1f2e3d4c": {"3": "0-5,8"}}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """The micro-batch that is running and that no progress event has reported yet."""

    elapsed_s: float
    rows: int | None = None
    tasks_done: int | None = None
    tasks_left: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of the last micro-batch: rows, busy slot-seconds, spread of its task times."""

    name: str
    upstream: tuple[str, ...] = ()
    rows_in: float | None = None
    rows_out: float | None = None
    busy_s: float | None = None
    tasks: int | None = None
    task_max_s: float | None = None
    task_median_s: float | None = None
    pending: int | None = None


def source_readers(stages: Sequence[Stage]) -> list[Stage]:
    """Return the stages that read sources of the query; none if several read something and it is
    unknown which of them do, because a static table or the log of a table format has own rows.
    """
    names = {stage.name for stage in stages}
    first = [stage for stage in stages if not names & set(stage.upstream)]
    return [stage for stage in first if stage.upstream or len(first) == 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSample:
    """The signals of one executor over the window of the tick."""

    cpu: float | None = None
    rows_per_s: float | None = None
    lag_rows: float | None = None
    state_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Observation:
    """The signals of a job at ``t_s``; every field except ``t_s`` may be absent (``None``).

    NaN and infinity count as absent. There is one observation per query; the queries of an
    application share its executors. The field names are also the columns of journals and
    recordings.
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
    """Rows of the last batch divided by its duration."""

    output_rows_per_s: float | None = None
    """Rows written to the sink; absent if neither the sink nor the last stages count them, as with
    ``foreachBatch``."""

    broker_up: bool | None = None
    """Whether the Kafka brokers of ``kafka=`` answered at this tick; absent if not configured."""

    lag_rows: float | None = None
    """Sum over partitions of (latest offset - committed offset). For other sources the rows that no
    batch has read, converted from ``lag_counted`` if the source does not count rows."""

    lag_by_source: Mapping[str, float] | None = None
    """``lag_rows`` by source: for Kafka by ``topic/partition``, with the smaller ones summed up as
    ``topic/others``; without ``kafka=`` the rows at the planning of the last batch."""

    lag_counted: float | None = None
    """The backlog as its source counts it, in ``lag_unit``; absent with Kafka."""

    lag_unit: str | None = None
    """``rows``, ``bytes``, ``files`` or ``offsets``."""

    lag_rows_upper: float | None = None
    """The upper bound of Varga et al. (eq. 2): the sum over tasks of largest lag x partitions."""

    lag_s: float | None = None
    """Event-time lag: how long the oldest uncommitted row has waited, read from the arrival curve;
    absent if the curve begins after the arrival of that row."""

    lag_mean_s: float | None = None
    """Mean wait of the uncommitted rows."""

    lag_littles_law_s: float | None = None
    """Estimate if ``lag_s`` is absent: ``lag_rows`` divided by the current arrival rate. It can be
    wrong by any factor just after the rate has changed."""

    latency_s: float | None = None
    """Commit time of a row's batch minus its append time, mean over the last batch."""

    busy: float | None = None
    """Share of slot time spent in tasks."""
    idle: float | None = None
    """Share of slot time without tasks and without backpressure."""
    backpressure_ms_per_s: float | None = None
    """Time that an operator was blocked; the largest of the operators."""
    cpu: float | None = None
    """CPU share per slot, JVM only."""
    cpu_python: float | None = None
    """CPU share per slot, Python workers only."""
    memory_bytes: int | None = None
    """Peak memory over the executors."""
    load_per_core: float | None = None
    """Load average of the last minute (``getloadavg``) divided by the cores of the executors'
    machine."""
    batch_s: float | None = None
    """Duration of the last micro-batch."""

    batch_parts_s: Mapping[str, float] | None = None
    """The parts of the last batch, by Spark's names."""
    batch_rows: int | None = None
    """Rows of the last micro-batch."""
    trigger_s: float | None = None
    """Trigger interval; 0 if batches run back to back."""
    real_time_s: float | None = None
    """Duration of a batch in real-time mode; absent with other triggers. The times of its batches
    and ``in_flight`` are then absent, because a long-running batch is not late."""
    real_time_slots: int | None = None
    """Slots that the running real-time batch occupies: the tasks of all its stages run at once."""

    in_flight: InFlight | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    state_partitions: int | None = None
    receivers: int | None = None
    """Receivers that the load of a fleet requires in this application; each occupies one core."""

    stages: tuple[Stage, ...] | None = None
    by_executor: Mapping[str, ExecutorSample] | None = None
    objective_share: float | None = None
    """The application's latency objective, the strictest, over that of this query; absent if both
    are the same."""

    priority: float | None = None
    """The priority of this query; absent if no query has one."""

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
        """The current size: the target in force, otherwise the registered executors."""
        return self.target if self.target is not None else self.executors

    @property
    def wait_s(self) -> float | None:
        """The wait of the rows: ``lag_s``, otherwise its estimate by Little's law."""
        return self.lag_s if self.lag_s is not None else self.lag_littles_law_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The number of executors that a job should have, with the reason in words and in numbers."""

    target: int
    reason: str
    evidence: Evidence = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    """Actions other than a change of the size."""

    limiting_tasks: int | None = None
    """The number of parallel tasks, if it limits the job."""


def hold(observation: Observation, reason: str, evidence: Evidence | None = None) -> Decision:
    """Return the decision to keep the current size."""
    return Decision(target=observation.size or 1, reason=reason, evidence=evidence or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Slo:
    """The latency objective: at least 99 % of the rows are committed within ``latency_s`` seconds
    of their arrival. Queries with another objective are named in ``queries``.
    """

    latency_s: float = 10.0
    queries: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, given: object) -> Slo:
        """Return the objective for seconds, or for seconds by query, of which the strictest is the
        application's: 10, ``{"orders": 10, "audit": 60}`` or the text ``orders=10,audit=60``.
        """
        if isinstance(given, str):
            try:
                given = by_query(given) if "=" in given else float(given)
            except ValueError:
                raise BadInput(
                    "the latency objective must be seconds, such as 10, or seconds by query, such"
                    f" as orders=10,audit=60, but it is {given!r}"
                ) from None
        if isinstance(given, Slo):
            return given
        if not isinstance(given, Mapping):
            return cls(latency_s=given)  # type: ignore[arg-type]
        if not given:
            raise BadInput("slo= must name at least one query with its objective, but it is empty")
        for seconds in given.values():
            cls(latency_s=seconds)
        return cls(latency_s=min(given.values()), queries=tuple(sorted(given.items())))

    def __str__(self) -> str:
        """Return the objective in words."""
        named = ", ".join(f"{name} {seconds:g} s" for name, seconds in self.queries)
        return f"{self.latency_s:g} s" + (f" ({named})" if named else "")

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


def by_query(text: str) -> dict[str, float]:
    """Return the numbers of a text ``orders=10,audit=60``; raises ValueError for another text."""
    parts = [part.rpartition("=") for part in text.split(",")]
    if not all(name.strip() for name, _, _ in parts):
        raise ValueError(text)
    return {name.strip(): float(number) for name, _, number in parts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Minimum and maximum number of executors; no decision exceeds them."""

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
    """Whether this job can be rescaled; ``cannot`` lists what is not possible, with the reasons."""

    can_scale: bool
    cannot: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardChange:
    """The change that one guard made to a decision, with its reason."""

    guard: str
    before: int
    after: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescaling:
    """The progress of a rescaling: ``steady``, ``growing``, ``shrinking``, ``balancing``,
    ``advised`` or ``blocked``; at a tick without a decision ``idle``, ``halted`` or ``failed``; for
    the initial size ``starting``.
    """

    phase: str
    detail: str = ""
    memory: Memory = field(default_factory=dict, compare=False, repr=False)
    """The actuator's memory; the journal stores it next to the policy's, not in the records."""

    places: Places = field(default_factory=dict)
    """The placement of the state, recorded after each change and once an hour."""

    def __str__(self) -> str:
        """Return phase and detail in one line; the detail may begin with the phase itself."""
        if self.detail.startswith(self.phase):
            return self.detail
        return ", ".join(filter(None, (self.phase, self.detail)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One tick of the loop, as the journal stores it."""

    t_s: float
    observation: Observation | None
    queries: tuple[Observation, ...]
    raw: Decision | None
    guards: tuple[GuardChange, ...]
    target: int | None
    actions: tuple[str, ...]
    """The actions of the decision, as text."""
    rescaling: Rescaling

    @property
    def size(self) -> int | None:
        """The size before the decision; None if it is unknown."""
        return self.observation.size if self.observation else None

    @property
    def reason(self) -> str:
        """The reason of the target; empty without a decision."""
        # Each guard extends the reason that it received, so the last one is complete.
        if self.guards:
            return self.guards[-1].reason
        return self.raw.reason if self.raw else ""

    def __str__(self) -> str:
        """Return size, reason and progress in one line."""
        sizes = [f"{n}" for n in dict.fromkeys((self.size, self.target)) if n is not None]
        return f"{' -> '.join(sizes) or 'unknown number of'} executors ({self.rescaling})" + (
            f": {self.reason}" if self.reason else ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of ``rheostat doctor``: ``good``, an ``advice``, or the reason why a feature is
    ``idle``.

    ``setting`` is the recommended setting as ``name=value``.
    """

    topic: str
    state: Literal["good", "advice", "idle"]
    line: str
    setting: str | None = None
