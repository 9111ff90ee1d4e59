"""Kubernetes' HorizontalPodAutoscaler, version 2 (Varga 2021, eq. 1; Koper 2022, section 3.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation
from rheostat.policies.parameters import About, check_limits, parameter
from rheostat.policies.rules.hpa_algorithm import (
    SELECT,
    UNSET,
    Autoscaler,
    Reading,
    Rules,
    parse_policies,
)
from rheostat.policies.sample_order import in_order


@dataclass(frozen=True, slots=True)
class Hpa:
    """desired = max over metrics of ceil(executors x metric / target), with Kubernetes' behavior
    and defaults.

    A ratio within the tolerance changes nothing. Scaling in uses the largest recommendation of five
    minutes; scaling out at most doubles the size or adds four in 15 s, whichever is more. An absent
    metric prevents scaling in. ``cpu`` is compared in whole percent, as Kubernetes does with a
    resource's utilization, other metrics in thousandths.
    """

    about: ClassVar[About] = About(
        formula=(
            "executors = max over metrics of ceil(executors x metric / target); unchanged where"
            " |metric / target - 1| <= tolerance;\ndown: the largest of down_window_s, up: the"
            " smallest of up_window_s; at most what the scaling policies allow"
        ),
        source=(
            "Kubernetes, HorizontalPodAutoscaler (autoscaling/v2); Varga et al. (2021), eq. 1;"
            " Koper (2022), eq. 3.1"
        ),
        fails_when=(
            "the metric does not fall as executors are added, or stays below its target while lag"
            " grows (skew, a slow sink)"
        ),
        steady=Observation(t_s=0.0, executors=4, cpu=0.7),
    )

    metrics: str = parameter(
        "cpu 0.7",
        (
            "numbers of an observation with their targets, as cpu 0.7 or cpu 70%; 'each': a"
            " total to share"
        ),
        "text",
    )
    tolerance_up: float = parameter(0.1, "a ratio this much above 1 changes nothing", "1")
    tolerance_down: float = parameter(
        0.1, "a ratio this much below 1 changes nothing", "1", below=1
    )
    up_window_s: float = parameter(0.0, "stabilization window for scaling up", "s")
    down_window_s: float = parameter(300.0, "stabilization window for scaling down", "s")
    up_policies: str = parameter(
        "Percent 100 15, Pods 4 15", "type value periodSeconds, ...", "text"
    )
    down_policies: str = parameter("Percent 100 15", "type value periodSeconds, ...", "text")
    up_select: str = parameter(
        "Max", "which scaling policy counts: Max, Min or Disabled", "text", choices=SELECT
    )
    down_select: str = parameter(
        "Max", "which scaling policy counts: Max, Min or Disabled", "text", choices=SELECT
    )
    behavior: str = parameter(
        "set",
        "unset: a manifest without it, at most the double or 4 in one decision",
        "text",
        choices=("set", UNSET),
    )

    def __post_init__(self) -> None:
        check_limits(self)
        parse_metrics(self.metrics)
        self._autoscaler()

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and the ratio of each metric to its target."""
        readings = {
            metric.name: metric.reading(observation) for metric in parse_metrics(self.metrics)
        }
        return self._autoscaler().decide(readings, observation, memory)

    @property
    def live_signals(self) -> frozenset[str]:
        """Return the signals that it reads."""
        return frozenset(metric.name for metric in parse_metrics(self.metrics))

    def _autoscaler(self) -> Autoscaler:
        up = Rules(self.up_window_s, parse_policies(self.up_policies), self.up_select)
        down = Rules(self.down_window_s, parse_policies(self.down_policies), self.down_select)
        # A manifest without behavior uses the older limits, not the defaults of behavior.
        if self.behavior == UNSET:
            up, down = Rules(0.0, (), UNSET), Rules(self.down_window_s, (), UNSET)
        return Autoscaler(up, down, self.tolerance_up, self.tolerance_down)


@dataclass(frozen=True, slots=True)
class Metric:
    """A field of ``Observation`` and its target, averaged over executors or in total."""

    name: str
    target: float
    is_total: bool

    def reading(self, observation: Observation) -> Reading | None:
        """Return the metric with its target; None if it is absent."""
        value: float | None = getattr(observation, self.name)
        # A resource's target is in whole percent; a finer one can only be a custom metric.
        steps = 100 if self.name == "cpu" and round(self.target * 100, 6).is_integer() else 1000
        return None if value is None else Reading(value, self.target, steps, self.is_total)


_NUMBERS = frozenset(
    f.name for f in fields(Observation) if str(f.type) in ("int | None", "float | None")
)


@lru_cache(maxsize=64)
def parse_metrics(text: str) -> tuple[Metric, ...]:
    """Return the metrics of ``name target [each], ...``; raises BadInput for an invalid one."""
    metrics = tuple(_parse_metric(part) for part in text.split(","))
    if len({metric.name for metric in metrics}) < len(metrics):
        raise BadInput(f"a metric must be named once, but they are {text!r}")
    return metrics


def _parse_metric(text: str) -> Metric:
    match = re.fullmatch(r"\s*(\w+)[\s=:]+([\d.eE+-]+)(%?)(\s+each)?\s*", text)
    if match is None or match[1] not in _NUMBERS:
        raise BadInput(
            "a metric is a number of an observation and its target, like 'cpu 0.7', but it is"
            f" {text.strip()!r}"
        )
    try:
        target = float(match[2]) / (100 if match[3] else 1)
    except ValueError:
        target = 0.0
    if not 0 < target < float("inf"):
        raise BadInput(f"the target of {match[1]} must be a number above 0, but it is {match[2]}")
    return Metric(match[1], target, bool(match[4]))
