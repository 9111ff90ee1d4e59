"""The parameters of a simulated Spark job: one frozen value with complete validation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rheostat.capacity.batch import BatchModel, StageCost
from rheostat.errors import BadInput
from rheostat.sim.spark.spark_capacity import Usl

_MILLION = 1e6


def _of(
    default: float | None, what: str, unit: str, low: float = 0.0, high: float = math.inf
) -> Any:
    return field(default=default, metadata={"help": what, "unit": unit, "low": low, "high": high})


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkParameters:
    """A streaming query on Kafka: a map stage with the source, then a stateful operator.

    Defaults: small executors on one machine with a local checkpoint, measured on Spark 4.3. Without
    ``state_partitions`` there is one stage. Raises BadInput with all errors at once.
    """

    executors: int = _of(2, "executors at the start", "executors", 1)
    slots_per_executor: int = _of(1, "tasks that an executor runs at a time", "slots", 1)
    trigger_s: float = _of(10.0, "trigger interval; 0: as fast as possible", "s")
    max_rows: float | None = _of(None, "maximum rows of a batch; none: all waiting rows", "rows", 1)
    source_partitions: int = _of(
        24, "Kafka partitions: the maximum number of tasks of the source stage", "partitions", 1
    )
    state_partitions: int = _of(24, "state partitions; 0: no state, one stage", "partitions")
    fixed_s: float = _of(0.28, "cost of a batch in which no task runs", "s")
    source_row_s: float = _of(1e-4, "slot time of a row in the source stage", "s")
    source_task_s: float = _of(
        0.015, "slot time of a task of the source stage, independent of its rows", "s"
    )
    state_row_s: float = _of(1e-4, "slot time of a row in the stateful stage", "s")
    state_commit_s: float = _of(
        0.028, "slot time of a state partition in every batch: open, commit", "s"
    )
    selectivity: float = _of(1.0, "rows that reach the stateful stage per row read", "1")
    second_share: float = _of(
        0.0, "rows from a second source, which a join reads, per row read; 0: one source", "1", 0, 1
    )
    second_row_s: float = _of(1e-4, "slot time of a row of the second source in its stage", "s")
    state_growth: float = _of(
        0.0, "additional slot time of a row in the stateful stage per million rows of state", "1"
    )
    output_share: float = _of(
        1.0, "rows given to the sink per row that reaches the last stage", "1"
    )
    source_skew: float = _of(
        1.0, "rows of the largest Kafka partition over those of a mean one", "1", 1
    )
    state_skew: float = _of(
        1.0, "rows of the largest state partition over those of a mean one", "1", 1
    )
    usl_sigma: float = _of(0.0, "contention of the slots (Universal Scalability Law)", "1", 0, 1)
    usl_kappa: float = _of(
        0.0, "coherency cost of the slots (Universal Scalability Law)", "1", 0, 1
    )
    task_noise: float = _of(
        0.1, "spread of a task's time around its mean 1 (sigma of a lognormal)", "1", 0, 2
    )
    batch_noise: float = _of(0.05, "the same for the fixed cost of a batch", "1", 0, 2)
    start_s: float = _of(
        3.0,
        "from the request of an executor to its registration; Standalone 3, YARN and Kubernetes 5"
        " to 60",
        "s",
    )
    concurrent_start_s: float = _of(
        0.5, "additional time for each other executor that starts at the same time", "s"
    )
    start_noise: float = _of(
        0.2, "spread of the start time around its mean (sigma of a lognormal)", "1", 0, 2
    )
    cold_s: float = _of(1.8, "additional time of the first task on an executor", "s")
    cold_state_s: float = _of(
        1.0, "additional time of the first state load on an executor that was not warmed", "s"
    )
    warm_up_s: float = _of(0.0, "warming of a new executor before it gets state; 0: none", "s")
    leave_s: float = _of(1.0, "from the end of its last batch to the end of an executor", "s")
    loss_s: float = _of(
        5.0, "additional time of a batch that loses an executor until it is detected", "s"
    )
    placement: bool = field(
        default=True,
        metadata={"help": "state moves to new executors; without, they get none", "unit": "yes/no"},
    )
    moves_per_batch: int | None = _of(
        None,
        "maximum number of state partitions that placement moves per batch; none: all",
        "partitions",
        1,
    )
    locality_wait_s: float = _of(
        3.0, "maximum wait of a state task for the executor that holds its state", "s"
    )
    load_s: float = _of(0.1, "time to load an empty state partition", "s")
    load_bytes_per_s: float = _of(2e8, "bytes of state loaded per second", "bytes/s", 1)
    state_keys: float | None = _of(
        None, "different keys, all equally likely: state has a row per observed key", "keys", 1
    )
    state_window_s: float | None = _of(None, "state has the rows of this many seconds", "s", 0)
    state_row_bytes: float = _of(100.0, "bytes of a row of state", "bytes")
    cpu_per_busy: float | None = _of(
        None, "CPU share of a slot over its busy share; none: CPU is not observed", "1", 0, 1
    )

    def __post_init__(self) -> None:
        # Report all errors at once, so that users need not correct them one by one.
        wrong = [*self._out_of_range(), *self._contradictions()]
        if wrong:
            raise BadInput("the parameters of the Spark plant: " + "; ".join(wrong))

    @property
    def model(self) -> BatchModel:
        """The noise-free batch model with warm executors and evenly placed state without rows."""
        return self.model_at(0.0)

    def model_at(self, state_rows: float) -> BatchModel:
        """Return the batch model while the state has this number of rows."""
        stages = [self._sources()]
        if self.state_partitions:
            stages.append(
                StageCost(
                    tasks=self.state_partitions,
                    row_s=self.state_row_s * self.growth(state_rows),
                    task_s=self.state_commit_s,
                    rows_in=self.selectivity,
                    skew=self.state_skew,
                )
            )
        return BatchModel(self.fixed_s, tuple(stages), Usl(self.usl_sigma, self.usl_kappa))

    def growth(self, state_rows: float) -> float:
        """Return the factor on the time of a row in the stateful stage."""
        return 1 + self.state_growth * state_rows / _MILLION

    @property
    def shares(self) -> tuple[tuple[float, float], ...]:
        """Of each source, its share of the rows and the slot time of one of its rows."""
        first = (1 - self.second_share, self.source_row_s)
        return (first, (self.second_share, self.second_row_s)) if self.second_share else (first,)

    def _sources(self) -> StageCost:
        """Return the cost of all sources: Spark runs their tasks at the same time."""
        costs_s = [share * row_s for share, row_s in self.shares]
        mean_s = sum(costs_s) / len(costs_s)
        return StageCost(
            tasks=self.source_partitions * len(costs_s),
            row_s=sum(costs_s),
            task_s=self.source_task_s,
            skew=self.source_skew * (max(costs_s) / mean_s if mean_s > 0 else 1.0),
        )

    def _out_of_range(self) -> Iterator[str]:
        for option in dataclasses.fields(self):
            value = getattr(self, option.name)
            low, high = (option.metadata.get(limit) for limit in ("low", "high"))
            if low is None or value is None:
                continue
            if not (math.isfinite(value) and low <= value <= high):
                limits = (
                    f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
                )
                yield f"{option.name} must be {limits} {option.metadata['unit']}, but it is {value}"

    def _contradictions(self) -> Iterator[str]:
        if self.source_skew > self.source_partitions:
            yield (
                f"source_skew {self.source_skew:g} cannot be above the {self.source_partitions}"
                " source_partitions"
            )
        if self.state_partitions and self.state_skew > self.state_partitions:
            yield (
                f"state_skew {self.state_skew:g} cannot be above the {self.state_partitions}"
                " state_partitions"
            )
        if not self.state_partitions and self.second_share:
            yield "a second_share needs state_partitions above 0: a join has state"
        if not self.state_partitions and (self.state_keys or self.state_window_s):
            yield "state_keys and state_window_s need state_partitions above 0"
        if self.state_keys is not None and self.state_window_s is not None:
            yield "state grows with state_keys or with state_window_s, not with both"
