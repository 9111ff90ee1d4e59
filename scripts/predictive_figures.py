"""Draw the figures of docs/concepts/predictive.md from the evidence of one simulated decision.

Run: python scripts/predictive_figures.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rheostat.guards import standard_guards
from rheostat.model import Decision, Limits
from rheostat.policies.predictive.policy import Predictive
from rheostat.sim.engine import simulate
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.ramp import Ramp
from rheostat_lab.svg_picture import picture

FOLDER = Path(__file__).parents[1] / "docs" / "concepts"
LOAD = Ramp(low=8000, high=30_000, begin_s=600, ramp_s=600)
PATHS = {"p50": "median path", "p90": "90 % path", "p99": "99 % path"}


def decision() -> Decision:
    """Return the last scale-out on a ramp of ten minutes; executors start in 10 s."""
    run = simulate(
        SparkPlant(SparkParameters(executors=8, start_s=10), LOAD, seed=3),
        Predictive(slo=30),
        standard_guards(Limits(max_executors=16)),
        until_s=1300,
        interval_s=5,
    )
    outs = [
        record.raw
        for record in run.records
        if record.raw and record.observation and record.raw.target > (record.observation.size or 0)
    ]
    return next(out for out in reversed(outs) if out.evidence.get("slot_s_rejected"))


def draw_scenarios(evidence: Mapping[str, Any]) -> None:
    """Draw the three paths of the forecast and the worst surge within the planning horizon."""
    with picture(FOLDER / "predictive-scenarios.svg", 7, 3.2) as figure:
        axes = figure.subplots()
        within_s = 2 * evidence["horizon_s"]
        for level, label in PATHS.items():
            points = [point.split(":") for point in evidence[f"forecast_path_{level}"].split()]
            times, rates = (
                [float(value) for value in column] for column in zip(*points, strict=True)
            )
            axes.plot(times, rates, marker="o", markersize=3, label=label)
        now, surge = rates[0], evidence["surge_rows_per_s"]
        first = min(surge, now + evidence["surge_step_rows_per_s"])
        axes.plot([0, 0, within_s], [now, first, surge], linestyle="--", label="worst surge")
        axes.axhline(evidence["capacity_rows_per_s"], color="0.5", linewidth=1)
        axes.annotate(
            "capacity of the present size",
            (within_s, evidence["capacity_rows_per_s"]),
            ha="right",
            va="bottom",
            fontsize=8,
            color="0.4",
        )
        axes.axvline(evidence["horizon_s"], color="0.7", linestyle=":")
        axes.set(xlim=(0, within_s), ylim=(0, None), xlabel="seconds from now", ylabel="rows/s")
        axes.legend(fontsize=8, loc="lower right")


def draw_sizes(made: Decision) -> None:
    """Draw cost and late rows of the chosen and of the present size within the horizon."""
    evidence: Mapping[str, Any] = made.evidence
    names = [f"{role} size" for role in ("chosen", "rejected")]
    with picture(FOLDER / "predictive-sizes.svg", 7, 2.2) as figure:
        for axes, quantity, unit in zip(
            figure.subplots(1, 2),
            ("slot_s", "late_rows"),
            ("slot-seconds", "late rows"),
            strict=True,
        ):
            axes.barh(names, [evidence[f"{quantity}_{role}"] for role in ("chosen", "rejected")])
            axes.set(xlabel=f"{unit} within {evidence['horizon_s']:.0f} s")


def main() -> None:
    """Draw both figures and print the reason of the decision."""
    made = decision()
    draw_scenarios(made.evidence)
    draw_sizes(made)
    print(made.reason)  # noqa: T201


if __name__ == "__main__":
    main()
