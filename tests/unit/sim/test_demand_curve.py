"""The demand curve, searched on the plant, is the one that the batch model gives."""

from dataclasses import replace

import pytest

from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.sim.demand import DemandCurve, demand_curve
from rheostat.sim.spark_parameters import SparkParameters
from rheostat.sim.spark_plant import SparkPlant
from rheostat.workloads.constant import Constant

CALM = SparkParameters.of({"task_noise": 0, "batch_noise": 0})


def plant(rate: float, executors: int) -> SparkPlant:
    return SparkPlant(replace(CALM, executors=executors), Constant(rate))


def test_it_is_that_of_the_batch_model_where_there_is_no_noise() -> None:
    rates = [1_000.0, 8_000.0, 15_000.0, 30_000.0]
    found = demand_curve(plant, rates, Slo(latency_s=17.0), most=16)
    assert list(found.executors) == [CALM.model.slots_for(rate, 17.0, CALM.trigger, 16) for rate in rates]
    assert found.executors[0] < found.executors[-1]


def test_a_load_that_no_size_holds_asks_for_the_most() -> None:
    assert demand_curve(plant, [1_000.0], Slo(latency_s=5.0), most=3).executors == (3,)  # below the trigger interval


def test_between_two_loads_the_higher_one_counts() -> None:
    curve = DemandCurve((10.0, 20.0), (1, 4))
    assert [curve.at(rate) for rate in (0.0, 10.0, 10.1, 20.0, 99.0)] == [1, 1, 4, 4, 4]


def test_without_loads_there_is_no_curve() -> None:
    with pytest.raises(BadInput, match="at least one load"):
        demand_curve(plant, [], Slo(), most=3)
