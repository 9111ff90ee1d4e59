"""The numbers of a sweep: intervals, demand, grids and the minutes of a load."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.sim.demand import DemandCurve, demand_over, minute_rates
from rheostat_lab.bounds.bounded_job import Job
from rheostat_lab.bounds.scoring import grid_step_s, score
from rheostat_lab.sweep.demand_summary import demands
from rheostat_lab.sweep.spec_places import grid_of
from rheostat_lab.sweep.sweep_summary import interval, mean_of

numbers = st.lists(st.floats(0, 1e6), min_size=1, max_size=8)


@settings(max_examples=15, deadline=None)
@given(numbers)
def test_a_mean_lies_within_its_interval_and_the_interval_within_the_samples(
    samples: list[float],
) -> None:
    result = interval(np.array(samples))
    hair = 1e-6 * max(samples) + 1e-9
    assert min(samples) - hair <= result.low <= result.high <= max(samples) + hair
    assert result.mean == pytest.approx(sum(samples) / len(samples))
    assert interval(np.array(samples)) == result
    if len(samples) == 1:
        assert result.low == result.high == result.mean


def test_unknown_values_are_excluded_from_a_mean() -> None:
    assert mean_of([None, 2.0, None, 2.0]) == {"mean": 2.0, "low": 2.0, "high": 2.0}
    assert mean_of([None, None]) is None
    assert mean_of([]) is None


curves = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(
    lambda sizes: DemandCurve((10.0, 20.0, 40.0), tuple(sorted(sizes)), (True, True, True))
)


@settings(max_examples=20)
@given(curves, st.lists(st.floats(0, 60), min_size=1, max_size=6))
def test_a_higher_load_never_needs_fewer_executors(curve: DemandCurve, rates: list[float]) -> None:
    sizes = curve.at(np.array(sorted(rates)))
    assert (np.diff(sizes) >= 0).all()
    assert curve.at(np.array([10.0, 10.5, 41.0])).tolist() == [
        curve.executors[0],
        curve.executors[1],
        curve.executors[2],
    ]


@settings(max_examples=20)
@given(curves, st.integers(1, 300), st.floats(0, 50), st.integers(1, 5))
def test_a_constant_load_has_a_constant_demand(
    curve: DemandCurve, seconds: int, rate: float, least: int
) -> None:
    minutes = minute_rates(lambda t_s: rate * t_s, float(seconds))
    assert len(minutes.t_s) == math.ceil(seconds / 60)
    assert minutes.values == pytest.approx(rate)
    needed = demand_over(curve, lambda t_s: 15.0 * t_s, float(seconds), least)
    assert set(needed.values) == {max(curve.executors[1], least)}


@settings(max_examples=20)
@given(st.lists(st.tuples(curves, st.booleans()), min_size=1, max_size=5))
def test_the_median_over_seeds_lies_between_minimum_and_maximum(
    seeds: list[tuple[DemandCurve, bool]],
) -> None:
    made = [DemandCurve(curve.rates, curve.executors, (True, True, held)) for curve, held in seeds]
    for demand in demands(made):
        low, middle, high = (
            math.inf if size is None else size
            for size in (demand.low, demand.executors, demand.high)
        )
        assert low <= middle <= high
    assert (demands(made)[2].high is None) == (not all(held for _, held in seeds))


@settings(max_examples=20)
@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(), max_size=3) | st.integers()))
def test_a_grid_has_every_combination_once(values_by_name: dict[str, list[int] | int]) -> None:
    combinations = list(grid_of(values_by_name))
    assert len(combinations) == math.prod(
        len(value) if isinstance(value, list) else 1 for value in values_by_name.values()
    )
    for combination in combinations:
        assert combination.keys() == values_by_name.keys()
        assert all(
            combination[name] in value if isinstance(value, list) else combination[name] == value
            for name, value in values_by_name.items()
        )


@settings(max_examples=20)
@given(st.floats(1, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_a_score_is_1_at_the_bound_and_0_at_the_best_fixed_size(
    static: float, share: float, between: float
) -> None:
    bound = share * static
    if static - bound < 1e-6 * static:
        return
    assert score(static, static, bound, attained=True) == 0
    assert score(bound, static, bound, attained=True) == pytest.approx(1)
    result = score(bound + between * (static - bound), static, bound, attained=True)
    assert result == pytest.approx(1 - between, abs=1e-6)
    assert score(bound, static, bound, attained=False) is None
    assert score(static, static, static, attained=True) is None


@pytest.mark.parametrize("trigger_s", [0.0, 1.0, 10.0, 60.0])
@pytest.mark.parametrize("max_rows", [math.inf, 5000.0])
@pytest.mark.parametrize("duration_s", [600.0, 86_400.0])
def test_a_trigger_interval_is_a_multiple_of_the_grid_step(
    trigger_s: float, max_rows: float, duration_s: float
) -> None:
    job = Job(batch_s=lambda rows, _: rows, trigger_s=trigger_s, max_rows=max_rows)
    step_s = grid_step_s(job, duration_s)
    assert step_s > 0
    assert trigger_s / step_s == pytest.approx(round(trigger_s / step_s))
