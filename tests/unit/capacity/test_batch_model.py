"""The batch time T(rows, slots), and its inverse."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.capacity.batch import MANY_ROWS, BatchModel, StageCost
from rheostat.sim.spark.spark_capacity import Usl
from rheostat_lab.sweep.batch_capacity import capacity_rows_per_s

MODEL = BatchModel(
    0.3,
    (
        StageCost(tasks=24, row_s=1e-4, task_s=0.01),
        StageCost(tasks=24, row_s=2e-4, task_s=0.03, rows_in=0.5),
    ),
)

models = st.builds(
    lambda fixed_s, tasks, row_s, task_s, skew, sigma: BatchModel(
        fixed_s,
        (StageCost(tasks=tasks, row_s=row_s, task_s=task_s, skew=min(skew, tasks)),),
        Usl(sigma),
    ),
    st.floats(0.01, 2),
    st.integers(1, 60),
    st.floats(1e-6, 1e-2),
    st.floats(0, 0.1),
    st.floats(1, 5),
    st.floats(0, 0.2),
)


def test_batch_time_is_the_fixed_cost_plus_waves_of_tasks() -> None:
    one = BatchModel(0.5, (StageCost(tasks=10, row_s=0.001, task_s=0.2),))
    assert one.batch_s(1000, 1) == pytest.approx(0.5 + 10 * (0.2 + 0.1))
    assert one.batch_s(1000, 4) == pytest.approx(0.5 + 3 * (0.2 + 0.1))  # three waves: 4, 4, 2
    assert one.batch_s(1000, 10) == one.batch_s(1000, 99) == pytest.approx(0.8)


def test_more_slots_do_not_speed_up_the_largest_task() -> None:
    skewed = BatchModel(0.0, (StageCost(tasks=10, row_s=0.001, skew=4.0),))
    assert skewed.batch_s(1000, 10) == pytest.approx(0.4)
    assert skewed.batch_s(1000, 1) == pytest.approx(1.0)


def test_stages_run_in_sequence_and_process_the_rows_that_reach_them() -> None:
    assert MODEL.batch_s(24_000, 24) == pytest.approx(0.3 + (0.01 + 0.1) + (0.03 + 0.1))


def test_contention_slows_only_the_row_dependent_work() -> None:
    slow = BatchModel(0.0, (StageCost(tasks=4, row_s=0.001, task_s=0.5),), Usl(sigma=1.0))
    assert slow.batch_s(400, 4) == pytest.approx(0.5 + 0.1 * 4)


def test_max_rows_per_trigger_limits_the_capacity() -> None:
    assert capacity_rows_per_s(MODEL, 24, interval_s=10.0, max_rows=5_000) == 500.0


def test_without_an_interval_capacity_is_the_inverse_of_the_row_cost() -> None:
    assert capacity_rows_per_s(MODEL, 1) == pytest.approx(1 / 2e-4, rel=1e-6)
    assert capacity_rows_per_s(MODEL, 24) == pytest.approx(24 / 2e-4, rel=1e-6)
    assert capacity_rows_per_s(BatchModel(1.0, ()), 1) == math.inf


@given(models, st.integers(1, 80), st.floats(0.005, 60), st.floats(1, 2))
def test_rows_within_is_the_inverse_of_the_batch_time(
    model: BatchModel, slots: int, lasts_s: float, longer: float
) -> None:
    batch_s, rows = model.at(slots, longer), model.rows_within(lasts_s, slots, longer)
    if batch_s(0.0) >= lasts_s:
        assert rows == pytest.approx(0, abs=1e-6)
    else:
        assert batch_s(rows) == pytest.approx(lasts_s)


def test_rows_without_cost_do_not_limit_rows_within() -> None:
    free = BatchModel(0.1, (StageCost(tasks=4, row_s=0.0, task_s=0.1),))
    assert free.rows_within(1.0, 2) == MANY_ROWS
    assert free.rows_within(0.2, 2) == 0
