"""Varga et al. (2021), Towards autoscaling of Apache Flink jobs: utilization and lag, by an HPA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from rheostat.errors import BadInput
from rheostat.model import Decision, Memory, Observation
from rheostat.policies.parameters import About, Limited, check_limits, parameter
from rheostat.policies.rules.hpa_algorithm import Autoscaler, Reading, Rules, parse_policies
from rheostat.policies.sample_order import in_order
from rheostat.signals.lag import consumed_per_s, gated_lag_change, queued_rows, relative_lag_change
from rheostat.signals.statistics.windows import Column, extended, slopes
from rheostat.signals.true_rates import DEFINITIONS, utilization

_FORMULA = (
    "executors = max of ceil(executors x utilization / target_utilization) and ceil(executors x"
    " gated / lag_target)\ngated = sign(lag_rows - threshold_rows) x (1 + deriv(lag_rows) /"
    " avg(processed_rows_per_s)); an HPA decides"
)
_STEADY = Observation(
    t_s=0.0,
    executors=4,
    busy=0.7,
    idle=0.3,
    lag_rows=1000.0,
    input_rows_per_s=3000.0,
    processed_rows_per_s=3000.0,
)


@dataclass(frozen=True, slots=True)
class VargaV1(Limited):
    """hpa over {utilization / target, sign(lag - threshold) x (1 + deriv(lag) / consumed rate) /
    lag target}.

    The windows are one minute (eq. 3, 4, 5); 50,000 rows and 480 s are Koper's values (section
    4.6). ``scope=pod`` uses lag, slope and threshold per executor and averages the signed values,
    as in Koper's deployment.
    """

    about: ClassVar[About] = About(
        formula=_FORMULA,
        source=(
            "Varga, Balassi, Kiss, Towards autoscaling of Apache Flink jobs (2021), eq. 1 to 5;"
            " Koper (2022), section 3.3"
        ),
        fails_when=(
            "a rescaling itself builds lag (it scales again); no row is consumed: the lag metric is"
            " absent and forbids scaling down"
        ),
        steady=_STEADY,
    )

    target_utilization: float = parameter(
        0.7, "target of utilization (Koper: 0.3, 0.5, 0.7)", "1", above=0
    )
    lag_target: float = parameter(
        1.0, "target of the lag metric; below 1 overshoots to catch up", "1", above=0
    )
    threshold_rows: float = parameter(50_000.0, "lag from which the lag metric counts", "rows")
    down_window_s: float = parameter(480.0, "stabilization window for scaling down", "s", above=0)
    window_s: float = parameter(
        60.0, "window of the slope of the lag and of the mean rate", "s", above=0
    )
    lag: str = parameter(
        "sum", "which lag: sum (true) or upper (eq. 2)", "text", choices=("sum", "upper")
    )
    scope: str = parameter(
        "job",
        "lag, slope and threshold of the job, or of each pod (executor)",
        "text",
        choices=("job", "pod"),
    )
    utilization: str = parameter(
        "koper", "its definition: varga (busy) or koper (not idle)", "text", choices=DEFINITIONS
    )

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size and both metrics with their targets."""
        return self._hpa(*self.readings(observation, memory), observation, memory)

    def readings(
        self, observation: Observation, memory: Memory
    ) -> tuple[dict[str, Reading | None], dict[str, Any]]:
        """Return the metrics ``utilization`` and ``lag`` (or None) and the windows to keep."""
        lags = self._lags(observation, memory)
        return self._readings(observation, lags), {"lags": lags}

    @property
    def live_signals(self) -> frozenset[str]:
        """Return the signals that it reads in addition to those of the job."""
        return frozenset({"by_executor"} if self.scope == "pod" else ())

    def _readings(
        self, observation: Observation, lags: Mapping[str, Any]
    ) -> dict[str, Reading | None]:
        used, gated = utilization(observation, self.utilization), self._gated(lags)
        return {
            "utilization": None if used is None else Reading(used, self.target_utilization),
            "lag": None if gated is None else Reading(gated, self.lag_target),
        }

    def _hpa(
        self,
        readings: Mapping[str, Reading | None],
        kept: dict[str, Any],
        observation: Observation,
        memory: Memory,
    ) -> tuple[Decision, Memory]:
        down = Rules(self.down_window_s, parse_policies("Percent 100 15"), "Max")
        decision, behaviour = Autoscaler(_UP, down).decide(readings, observation, memory)
        return decision, {**behaviour, **kept}

    def _lags(self, observation: Observation, memory: Memory) -> dict[str, Any]:
        """Return the window: times, lag and consumed rows, and for the job the arrived rows."""
        past, sources = memory.get("lags", {}), self._sources(observation)
        times, columns = past.get("times", ()), past.get("columns", {})
        times, columns = extended(times, columns, observation.t_s, sources, self.window_s)
        return {"times": times, "columns": columns}

    def _sources(self, observation: Observation) -> dict[str, tuple[float | None, ...]]:
        # Koper's deployment scraped each TaskManager, and the HPA used the mean over the pods.
        if self.scope == "pod":
            return {
                name: (sample.lag_rows, sample.rows_per_s)
                for name, sample in (observation.by_executor or {}).items()
            }
        rows = observation.lag_rows_upper if self.lag == "upper" else queued_rows(observation)
        # A single source without a name represents the complete job.
        return {"": (rows, observation.processed_rows_per_s, observation.input_rows_per_s)}

    def _gated(self, lags: Mapping[str, Any]) -> float | None:
        """Return the gated change of the lag; for executors the mean of those that have one."""
        changes, columns = [], lags["columns"].values()
        for (lag, consumed, *arrivals), slope in zip(
            columns, slopes(lags["times"], [lag for lag, *_ in columns]), strict=True
        ):
            # Equation 3.
            consumed_rate = consumed_per_s(_mean(consumed), _mean(*arrivals), slope)
            change = relative_lag_change(slope, consumed_rate)
            # Equation 4; executors without a slope yet are excluded from the mean.
            newest, limit = lag[-1], self.threshold_rows
            if (
                newest is not None
                and (gated := gated_lag_change(newest, limit, change)) is not None
            ):
                changes.append(gated)
        return sum(changes) / len(changes) if changes else None


@dataclass(frozen=True, slots=True)
class VargaV2(VargaV1):
    """Varga-v1 with both metrics multiplied by [deriv(registered executors, cooldown) == 0] (Koper,
    equation 3.6).

    The cooldown begins when executors register, not at the decision. Its zeros enter the
    stabilization window, which must be longer than the cooldown.
    """

    about: ClassVar[About] = About(
        formula=_FORMULA + "\nboth metrics x [deriv(executors, cooldown_s) == 0]",
        source="Koper (2022), section 3.3.4, eq. 3.6; Varga et al. (2021)",
        fails_when=(
            "executors start and fail on their own (failures, spot): each time it is blind for a"
            " cooldown"
        ),
        steady=_STEADY,
    )

    cooldown_s: float = parameter(
        120.0, "both metrics are 0 this long after a change of executors", "s", above=0
    )

    def __post_init__(self) -> None:
        check_limits(self)
        if not self.cooldown_s < self.down_window_s:
            raise BadInput(
                f"cooldown_s must be below down_window_s ({self.down_window_s}), but it is"
                f" {self.cooldown_s}"
            )

    def readings(
        self, observation: Observation, memory: Memory
    ) -> tuple[dict[str, Reading | None], dict[str, Any]]:
        """Return both metrics, 0 just after a change of executors, and the windows to keep."""
        now, lags = observation.t_s, self._lags(observation, memory)
        past, row = memory.get("executors", {}), {"registered": [observation.executors]}
        times, columns = extended(
            past.get("times", ()), past.get("columns", {}), now, row, self.cooldown_s
        )
        slope = slopes(times, columns["registered"])[0]
        # Exactly 0: the slope of a constant column is exactly 0 (see ``slopes``).
        calm = None if slope is None else int(slope == 0)
        readings = {
            name: (
                None
                if reading is None or calm is None
                # 0, not absent: zeros recommend fewer executors, which the longer down window holds
                # back.
                else replace(reading, value=reading.value * calm)
            )
            for name, reading in self._readings(observation, lags).items()
        }
        return readings, {"lags": lags, "executors": {"times": times, "columns": columns}}


def _mean(column: Column = ()) -> float | None:
    known = [value for value in column if value is not None] if None in column else column
    return sum(known) / len(known) if known else None  # type: ignore[arg-type]


# The default scale-out behavior of an HPA: double, or four pods, in 15 s.
_UP = Rules(0.0, parse_policies("Percent 100 15, Pods 4 15"), "Max")
