"""The parameters of Flink's autoscaler: its names and its defaults, times in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from rheostat.errors import BadInput
from rheostat.policies.rates.flink_capacity import MODES


@dataclass(frozen=True, slots=True)
class FlinkParameters:
    """What can be set; raises BadInput for a value that is out of range."""

    metrics_window_s: float = field(default=900.0, metadata={"help": "metrics.window", "unit": "s"})
    stabilization_interval_s: float = field(
        default=300.0,
        metadata={"help": "stabilization.interval after a change of size", "unit": "s"},
    )
    utilization_target: float = field(
        default=0.7, metadata={"help": "utilization.target", "unit": "1"}
    )
    utilization_max: float = field(
        default=0.0,
        metadata={"help": "utilization.max; 0: the target plus the boundary", "unit": "1"},
    )
    utilization_min: float = field(
        default=0.0,
        metadata={"help": "utilization.min; 0: the target less the boundary", "unit": "1"},
    )
    target_utilization_boundary: float = field(
        default=0.3, metadata={"help": "target.utilization.boundary", "unit": "1"}
    )
    catch_up_duration_s: float = field(
        default=1800.0, metadata={"help": "catch-up.duration; 0: no catching up", "unit": "s"}
    )
    restart_time_s: float = field(default=300.0, metadata={"help": "restart.time", "unit": "s"})
    scale_down_interval_s: float = field(
        default=3600.0, metadata={"help": "scale-down.interval", "unit": "s"}
    )
    scale_down_max_factor: float = field(
        default=0.6, metadata={"help": "scale-down.max-factor", "unit": "1"}
    )
    scale_up_max_factor: float = field(
        default=100_000.0, metadata={"help": "scale-up.max-factor", "unit": "1"}
    )
    vertex_min_parallelism: int = field(
        default=1, metadata={"help": "vertex.min-parallelism", "unit": "slots"}
    )
    vertex_max_parallelism: int = field(
        default=200, metadata={"help": "vertex.max-parallelism", "unit": "slots"}
    )
    backlog_processing_lag_threshold_s: float = field(
        default=300.0, metadata={"help": "backlog-processing.lag-threshold", "unit": "s"}
    )
    observed_lag_threshold_s: float = field(
        default=30.0, metadata={"help": "observed-true-processing-rate.lag-threshold", "unit": "s"}
    )
    observed_switch_threshold: float = field(
        default=0.15,
        metadata={"help": "observed-true-processing-rate.switch-threshold", "unit": "1"},
    )
    observed_min_observations: int = field(
        default=2,
        metadata={"help": "observed-true-processing-rate.min-observations", "unit": "samples"},
    )
    effectiveness_detection: bool = field(
        default=False,
        metadata={
            "help": (
                "scaling.effectiveness.detection.enabled: blocks after a step that did not help"
            ),
            "unit": "yes/no",
        },
    )
    effectiveness_threshold: float = field(
        default=0.1, metadata={"help": "scaling.effectiveness.threshold", "unit": "1"}
    )
    alignment: str = field(
        default="BALANCED",
        metadata={
            "help": "scaling.parallelism-alignment.mode: " + ", ".join(MODES),
            "unit": "name",
        },
    )
    partitions: int = field(
        default=0,
        metadata={"help": "partitions to align with; 0: the stage's tasks, if known", "unit": "1"},
    )

    def __post_init__(self) -> None:
        for name in (entry.name for entry in fields(self) if entry.name != "alignment"):
            if not getattr(self, name) >= 0:
                raise BadInput(f"{name} must be at least 0, but it is {getattr(self, name)}")
        if self.alignment not in MODES:
            raise BadInput(
                f"alignment must be one of {', '.join(MODES)}, but it is {self.alignment!r}"
            )
        low, high = self.lowest_utilization, self.highest_utilization
        if not (0 < self.utilization_target <= 1 and low <= self.utilization_target <= high):
            given = f"{low}, {self.utilization_target} and {high}"
            raise BadInput(
                "utilization min, target and max must rise and the target be in (0, 1], but they"
                f" are {given}"
            )
        if (
            self.scale_down_max_factor > 1
            or self.vertex_min_parallelism > self.vertex_max_parallelism
        ):
            given = (
                f"{self.scale_down_max_factor}, {self.vertex_min_parallelism} and"
                f" {self.vertex_max_parallelism}"
            )
            raise BadInput(
                "scale_down_max_factor must be at most 1 and the least parallelism at most the"
                f" most, but they are {given}"
            )

    @property
    def highest_utilization(self) -> float:
        """``utilization_max``, or the target plus the boundary."""
        return self.utilization_max or self.utilization_target + self.target_utilization_boundary

    @property
    def lowest_utilization(self) -> float:
        """``utilization_min``, or the target less the boundary."""
        return self.utilization_min or max(
            0.0, self.utilization_target - self.target_utilization_boundary
        )
