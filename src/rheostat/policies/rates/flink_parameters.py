"""The parameters of Flink's autoscaler with its names and defaults; times in seconds."""

from __future__ import annotations

from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.policies.parameters import check_limits, parameter
from rheostat.policies.rates.flink_capacity import MODES


@dataclass(frozen=True, slots=True)
class FlinkParameters:
    """The configurable values; raises BadInput for one that is out of range."""

    metrics_window_s: float = parameter(900.0, "metrics.window", "s")
    stabilization_interval_s: float = parameter(
        300.0, "stabilization.interval after a change of size", "s"
    )
    utilization_target: float = parameter(0.7, "utilization.target", "1")
    utilization_max: float = parameter(0.0, "utilization.max; 0: the target plus the boundary", "1")
    utilization_min: float = parameter(0.0, "utilization.min; 0: the target less the boundary", "1")
    target_utilization_boundary: float = parameter(0.3, "target.utilization.boundary", "1")
    catch_up_duration_s: float = parameter(1800.0, "catch-up.duration; 0: no catching up", "s")
    restart_time_s: float = parameter(300.0, "restart.time", "s")
    scale_down_interval_s: float = parameter(3600.0, "scale-down.interval", "s")
    scale_down_max_factor: float = parameter(0.6, "scale-down.max-factor", "1", at_most=1)
    scale_up_max_factor: float = parameter(100_000.0, "scale-up.max-factor", "1")
    vertex_min_parallelism: int = parameter(1, "vertex.min-parallelism", "slots")
    vertex_max_parallelism: int = parameter(200, "vertex.max-parallelism", "slots")
    backlog_processing_lag_threshold_s: float = parameter(
        300.0, "backlog-processing.lag-threshold", "s"
    )
    observed_lag_threshold_s: float = parameter(
        30.0, "observed-true-processing-rate.lag-threshold", "s"
    )
    observed_switch_threshold: float = parameter(
        0.15, "observed-true-processing-rate.switch-threshold", "1"
    )
    observed_min_observations: int = parameter(
        2, "observed-true-processing-rate.min-observations", "samples"
    )
    effectiveness_detection: bool = parameter(
        False,
        "scaling.effectiveness.detection.enabled: blocks after a step that did not help",
        "yes/no",
    )
    effectiveness_threshold: float = parameter(0.1, "scaling.effectiveness.threshold", "1")
    alignment: str = parameter(
        "BALANCED", "scaling.parallelism-alignment.mode: " + ", ".join(MODES), "name", choices=MODES
    )
    partitions: int = parameter(0, "partitions to align with; 0: the stage's tasks, if known", "1")

    def __post_init__(self) -> None:
        check_limits(self)
        low, high = self.lowest_utilization, self.highest_utilization
        if not (0 < self.utilization_target <= 1 and low <= self.utilization_target <= high):
            given = f"{low}, {self.utilization_target} and {high}"
            raise BadInput(
                "utilization min, target and max must rise and the target be in (0, 1], but they"
                f" are {given}"
            )
        least, most = self.vertex_min_parallelism, self.vertex_max_parallelism
        if least > most:
            raise BadInput(
                "vertex_min_parallelism must be at most vertex_max_parallelism, but they are"
                f" {least} and {most}"
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
