"""The options of the demo, which all its texts are derived from."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rheostat.clusters.scaling_settings import duration_s
from rheostat.config import GuardOptions, LoopOptions
from rheostat.errors import BadInput
from rheostat.guards import guards_of
from rheostat.model import Limits, Slo
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.policies.registry import create
from rheostat.sim.workload import Workload
from rheostat_lab.clusters.cluster_kinds import find_kind
from rheostat_lab.loads.text import parse, with_seed
from rheostat_lab.loads.trace_file import find_trace
from rheostat_lab.nexmark.landing import KINDS as LANDINGS
from rheostat_lab.nexmark.queries import find_query, offered_queries
from rheostat_lab.nexmark.queries.query import Query
from rheostat_lab.report.result_text import slots

PEAKS = {"q1": 2600.0, "q11": 2000.0}
_OTHER_PEAK = 2000.0
"""Events per second from Kafka that four executors of two slots can process within 10 s on two
cores, by query.
"""

_PEAK_SHARE = {"kafka": 1.0, "files": 0.65, "delta": 0.5}
"""The same from another source, as a share: each file is opened by a task of its own."""

SOURCES = ("kafka", *LANDINGS)

DYNAMIC_ALLOCATION = "spark-dynamic-allocation"
"""Spark's own allocation instead of a policy, with parameters of spark.dynamicAllocation."""

TIMEOUTS = (
    *("executorIdleTimeout", "cachedExecutorIdleTimeout", "shuffleTracking.timeout"),
    *("schedulerBacklogTimeout", "sustainedSchedulerBacklogTimeout"),
)
RATIO = "executorAllocationRatio"

_SHORTEST_S, _LONGEST_S = 30.0, 86_400.0
_MOST_RATE = 1e6
_WARM_UP_S = 15.0
_LONGEST_WAIT_MS = 1000.0
_MOST_PARTITIONS = 1000
_MOST_DAYS = 7
_MOST_EXECUTORS = 100
_MOST_CORES = 16
_SHORTEST_TRIGGER_S = 0.1
_MOST_PRICE = 1e6
_LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """The options of the demo; all its texts are derived from them."""

    query: str = field(default="q1", metadata={"help": f"Nexmark query: {offered_queries()}"})
    seconds: float = field(default=240.0, metadata={"help": "length of the day"})
    days: int = field(default=1, metadata={"help": "consecutive days"})
    low: float = field(default=200.0, metadata={"help": "events per second at night"})
    peak: float | None = field(
        default=None,
        metadata={"help": "events per second at the peak; default: the capacity of the query"},
    )
    ramp_share: float = field(
        default=0.16, metadata={"help": "share of the day that its steep ramp takes"}
    )
    workload: str = field(
        default="",
        metadata={"help": "load instead of the day, as in a sweep: cosine:shift=900,noise=50"},
    )
    service_ms: float = field(
        default=2.0, metadata={"help": "wait per event, standing for a call to an outside system"}
    )
    partitions: int = field(default=16, metadata={"help": "partitions of each topic"})
    trigger_s: float = field(default=1.0, metadata={"help": "trigger interval"})
    slo: Slo = field(default_factory=Slo, metadata={"help": "latency objective"})
    policy: str = field(default=DEFAULT_POLICY, metadata={"help": "policy"})
    parameters: Mapping[str, Any] = field(
        default_factory=dict,
        metadata={"help": "parameters of the policy that are not its defaults"},
    )
    min_executors: int = field(default=1, metadata={"help": "floor of the number of executors"})
    max_executors: int = field(default=4, metadata={"help": "ceiling of the number of executors"})
    start: int | None = field(
        default=None, metadata={"help": "executors at the start; None: the floor"}
    )
    cores: int = field(default=2, metadata={"help": "slots of an executor"})
    interval_s: float = field(default=3.0, metadata={"help": "seconds between two decisions"})
    cooldown_out_s: float = field(
        default=5.0, metadata={"help": "seconds after a rescale before the next scale-out"}
    )
    cooldown_in_s: float = field(
        default=10.0, metadata={"help": "seconds after a rescale before the next scale-in"}
    )
    seed: int = field(default=7, metadata={"help": "seed of the events and of the load's noise"})
    guards: GuardOptions = field(
        default_factory=GuardOptions,
        metadata={"help": "guards in addition to those that are always active"},
    )
    price_per_slot_hour: float | None = field(
        default=None, metadata={"help": "price of a slot-hour, in any currency"}
    )
    cluster: str = field(
        default="standalone",
        metadata={"help": "where it runs: standalone, yarn or kubernetes, on this computer"},
    )
    source: str = field(
        default="kafka", metadata={"help": f"what the query reads: {', '.join(SOURCES)}"}
    )
    restarts_broker: bool = field(
        default=True, metadata={"help": "restart a failed broker with its data"}
    )
    out: Path = field(
        default=Path("out/demo"),
        metadata={"help": "folder of the report, the plot and the summary"},
    )

    def __post_init__(self) -> None:
        find_query(self.query)
        find_kind(self.cluster)
        if self.source not in SOURCES:
            raise BadInput(f"source must be {', '.join(SOURCES)}, but it is {self.source!r}")
        if self.seconds < _SHORTEST_S:
            raise BadInput(
                f"a day of {self.seconds:g} seconds is too short to see anything; take"
                f" {_SHORTEST_S:g} or more"
            )
        between(_SHORTEST_S, _LONGEST_S, seconds=self.seconds)
        between(1, _MOST_DAYS, days=self.days)
        between(0, _MOST_RATE, low=self.low, peak=self.peak or 0.0)
        _ = self.load  # rejects an invalid text
        between(0, _LONGEST_WAIT_MS, service_ms=self.service_ms)
        between(1, _MOST_PARTITIONS, partitions=self.partitions)
        between(_SHORTEST_TRIGGER_S, self.seconds, trigger_s=self.trigger_s)
        between(_SHORTEST_TRIGGER_S, _LONGEST_S, slo_s=self.slo.latency_s)
        between(_SHORTEST_TRIGGER_S, _LONGEST_S, interval_s=self.interval_s)
        between(0, _LONGEST_S, cooldown_out_s=self.cooldown_out_s, cooldown_in_s=self.cooldown_in_s)
        between(0, _MOST_EXECUTORS, max_executors=self.max_executors)
        between(1, _MOST_CORES, cores=self.cores)
        between(0, _LARGEST_SEED, seed=self.seed)
        if self.price_per_slot_hour is not None:
            between(0, _MOST_PRICE, price_per_slot_hour=self.price_per_slot_hour)
        guards_of(self.limits, self.guards, self.loop)
        if self.policy == DYNAMIC_ALLOCATION:
            check_settings(self.parameters)
        else:
            create(self.policy, self.policy_parameters, self.slo)

    @property
    def known(self) -> Query:
        """The query."""
        return find_query(self.query)

    @property
    def load(self) -> Workload:
        """The load; raises BadInput for invalid numbers or an invalid text."""
        return with_seed(parse(self.load_text, find_trace), self.load_seed)

    @property
    def load_text(self) -> str:
        """The load as text: the day, unless another load is given."""
        return self.workload or (
            f"day:low={self.low},peak={self.peak_rate},day_s={self.seconds}"
            f",ramp_share={self.ramp_share},seed={self.seed}"
        )

    @property
    def peak_rate(self) -> float:
        """Events per second at the peak."""
        if self.peak is not None:
            return self.peak
        return round(PEAKS.get(self.query, _OTHER_PEAK) * _PEAK_SHARE[self.source], -2)

    @property
    def load_seed(self) -> int:
        """The seed that is added to those in the load's text; a day has its own seed."""
        return self.seed if self.workload else 0

    @property
    def warm_up_s(self) -> float:
        """Seconds at the start that the measurements exclude."""
        return min(_WARM_UP_S, self.seconds / 8)

    @property
    def total_s(self) -> float:
        """The length of all days in seconds."""
        return self.days * self.seconds

    @property
    def span(self) -> str:
        """Return the length of a day and the number of days as text."""
        minutes = f"{self.seconds / 60:g} minutes"
        return f"a day in {minutes}" if self.days == 1 else f"{self.days} days of {minutes}"

    @property
    def limits(self) -> Limits:
        """Minimum and maximum number of executors."""
        return Limits(min_executors=self.min_executors, max_executors=self.max_executors)

    @property
    def most_slots(self) -> int:
        """Slots of all executors at the maximum size."""
        return self.max_executors * self.cores

    @property
    def loop(self) -> LoopOptions:
        """The decision interval and the cooldowns."""
        return LoopOptions(
            interval_s=self.interval_s,
            cooldown_out_s=self.cooldown_out_s,
            cooldown_in_s=self.cooldown_in_s,
            reversal_hold_s=0.0,  # a day of minutes has no hour at one load
        )

    @property
    def policy_parameters(self) -> Mapping[str, Any]:
        """The given parameters, and for several days the predictive policy's length of a day."""
        if self.policy == "predictive" and self.days > 1:
            return {"period_s": self.seconds, **self.parameters}
        return self.parameters

    @property
    def sized_by(self) -> str:
        """The policy with its given parameters, as on a command line."""
        return shlex.join([self.policy, *(f"{name}={v}" for name, v in self.parameters.items())])

    @property
    def load_words(self) -> str:
        """The load as text: the rates of the day, or the given text."""
        return self.workload or f"{self.low:g} to {self.peak_rate:g} events/s"

    def in_words(self) -> str:
        """Describe what will be shown, and what represents what."""
        return (
            f"Nexmark {self.query}, {self.span}: {self.load_words} through {self.source}; each"
            f" waits {self.service_ms:g} ms, standing for a call to an outside system;"
            f" trigger {self.trigger_s:g} s, objective {self.slo.latency_s:g} s,"
            f" policy {self.sized_by}, {self.min_executors} to {self.max_executors} executors of"
            f" {slots(self.cores)}, a decision every {self.interval_s:g} s"
        )


def check_settings(given: Mapping[str, Any]) -> None:
    """Raise BadInput for settings that dynamic allocation does not have or cannot read."""
    for name, value in given.items():
        if name in TIMEOUTS:
            if duration_s(str(value)) == math.inf:
                raise BadInput(f"{name} must be a time, such as 3s, but it is {value!r}")
        elif name == RATIO and isinstance(value, int | float):
            between(0, 1, **{name: value})
        else:
            raise BadInput(
                f"{DYNAMIC_ALLOCATION} has {', '.join((*TIMEOUTS, RATIO))}, but not {name} {value}"
            )


def between(least: float, most: float, **values: float) -> None:
    """Raise BadInput for the first value that is not a number between the limits."""
    for name, value in values.items():
        if not (math.isfinite(value) and least <= value <= most):
            raise BadInput(
                f"{name.replace('_', ' ')} must be between {least:g} and {most:g}, but it is"
                f" {value:g}"
            )
