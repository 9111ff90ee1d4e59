import pytest

from rheostat.model import Observation, Stage
from rheostat.signals.true_rates import (
    arrivals_per_s,
    demand_of,
    slot_s_per_row,
    with_demand,
)


def batch(rate: float = 100.0, busy_s: float = 20.0) -> Observation:
    """Two stages on 4 slots: a row costs busy_s / 1000 in each."""
    stages = (
        Stage(name="read", upstream=("kafka",), rows_in=1000.0, rows_out=500.0, busy_s=busy_s),
        Stage(name="sum", upstream=("read",), rows_in=500.0, rows_out=1.0, busy_s=busy_s),
    )
    return Observation(t_s=0.0, executors=4, input_rows_per_s=rate, stages=stages)


def test_row_demand_is_the_busy_time_of_all_stages_per_row():
    assert slot_s_per_row(batch()) == pytest.approx(0.04)
    assert slot_s_per_row(batch(rate=300.0)) == pytest.approx(0.04)  # independent of the arrivals


def test_without_stages_the_demand_is_derived_from_batch_time():
    job = Observation(
        t_s=0.0,
        executors=4,
        input_rows_per_s=100.0,
        batch_s=5.0,
        batch_rows=1000,
        trigger_s=10.0,
    )
    assert slot_s_per_row(job) == pytest.approx(0.02)  # half of 4 slots for 100 rows/s


def test_without_a_rate_or_a_batch_the_demand_is_absent():
    assert slot_s_per_row(Observation(t_s=0.0, executors=4)) is None
    assert slot_s_per_row(Observation(t_s=0.0, executors=4, input_rows_per_s=100.0)) is None
    assert slot_s_per_row(batch(rate=0.0)) is None


def test_arrivals_of_several_sources_are_summed():
    assert arrivals_per_s(Observation(t_s=0.0, inputs={"a": 1.0, "b": 2.0})) == 3.0
    assert arrivals_per_s(Observation(t_s=0.0)) is None


def test_one_expensive_batch_does_not_change_the_demand():
    demands: list[float] = []
    for busy_s in (20.0, 20.0, 900.0, 20.0):
        demands = with_demand(demands, batch(busy_s=busy_s))
    demands = with_demand(demands, Observation(t_s=0.0))
    assert demand_of(demands) == pytest.approx(0.04)
    assert demand_of([]) is None
