"""The demand curve, searched on the plant, equals that of the batch model."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rheostat.cli.app import run as command
from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.sim.demand import DemandCurve, demand_curve
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant
from rheostat_lab.sweep.plant_parameters import spark_parameters
from rheostat_lab.sweep.sweep_plant import executors_by_model

CALM = spark_parameters({"task_noise": 0, "batch_noise": 0})
INTERVAL = Slo(latency_s=17.0)


def plant(rate: float, executors: int) -> SparkPlant:
    return SparkPlant(replace(CALM, executors=executors), Constant(rate))


def test_the_demand_curve_matches_the_batch_model_without_noise() -> None:
    rates = [1_000.0, 8_000.0, 15_000.0, 30_000.0]
    curve = demand_curve(plant, rates, INTERVAL, most=16)
    assert list(curve.executors) == [executors_by_model(CALM, rate, INTERVAL, 16) for rate in rates]
    assert curve.executors[0] < curve.executors[-1]
    assert all(curve.held)


def test_executors_with_several_slots_are_rounded_up() -> None:
    one, three = (
        executors_by_model(replace(CALM, slots_per_executor=slots), 30_000.0, INTERVAL, 16)
        for slots in (1, 3)
    )
    assert one is not None
    assert three == -(-one // 3)


def test_a_load_beyond_all_sizes_needs_the_maximum_and_ends_the_search() -> None:
    tried: list[tuple[float, int]] = []

    def recorded(rate: float, executors: int) -> SparkPlant:
        tried.append((rate, executors))
        return plant(rate, executors)

    curve = demand_curve(
        recorded, [1_000.0, 2_000.0], Slo(latency_s=5.0), most=3
    )  # below the trigger interval
    assert (curve.executors, curve.held) == ((3, 3), (False, False))
    assert tried == [(1_000.0, 1), (1_000.0, 2), (1_000.0, 3)]


def test_between_two_loads_the_higher_one_applies() -> None:
    curve = DemandCurve((10.0, 20.0), (1, 4), (True, True))
    assert curve.at(np.array([0.0, 10.0, 10.1, 20.0, 99.0])).tolist() == [1, 1, 4, 4, 4]


def test_without_loads_a_demand_curve_is_rejected() -> None:
    with pytest.raises(BadInput, match="at least one load"):
        demand_curve(plant, [], Slo(), most=3)


def test_the_demand_command_fits_a_journal_and_reads_a_calibration(
    journaled: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, fitted = str(journaled(seconds=900)), tmp_path / "fitted.json"
    given = ["--slo", "20", "--loads", "500:2500:1000", "--seeds", "1", "--max", "8"]
    assert command(["simulate", "demand", folder, *given]) == 0
    assert "batch model" in capsys.readouterr().out
    assert command(["calibrate", folder, "--out", str(fitted)]) == 0
    assert command(["simulate", "demand", str(fitted), *given, "--set", "trigger_s=0"]) == 0
