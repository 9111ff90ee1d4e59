"""The numbers of a sweep: intervals, demand, grids and the minutes of a load."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.sim.demand import DemandCurve, demand_over, demands, minute_rates
from rheostat_lab.bounds.bounded_job import Job
from rheostat_lab.bounds.scoring import grid_step_s, score
from rheostat_lab.sweep.spec_places import grid_of
from rheostat_lab.sweep.sweep_summary import interval, mean_of

numbers = st.lists(st.floats(0, 1e6), min_size=1, max_size=8)


@settings(max_examples=15, deadline=None)
@given(numbers)
def test_a_mean_lies_in_its_interval_and_the_interval_in_what_was_seen(seen: list[float]) -> None:
    found = interval(np.array(seen))
    hair = 1e-6 * max(seen) + 1e-9
    assert min(seen) - hair <= found.low <= found.high <= max(seen) + hair
    assert found.mean == pytest.approx(sum(seen) / len(seen))
    assert interval(np.array(seen)) == found
    if len(seen) == 1:
        assert found.low == found.high == found.mean


def test_unknown_values_are_left_out_of_a_mean_and_alone_have_none() -> None:
    assert mean_of([None, 2.0, None, 2.0]) == {"mean": 2.0, "low": 2.0, "high": 2.0}
    assert mean_of([None, None]) is None
    assert mean_of([]) is None


curves = st.lists(st.integers(1, 9), min_size=3, max_size=3).map(
    lambda sizes: DemandCurve((10.0, 20.0, 40.0), tuple(sorted(sizes)), (True, True, True))
)


@settings(max_examples=20)
@given(curves, st.lists(st.floats(0, 60), min_size=1, max_size=6))
def test_a_higher_load_never_demands_fewer(curve: DemandCurve, rates: list[float]) -> None:
    found = curve.at(np.array(sorted(rates)))
    assert (np.diff(found) >= 0).all()
    assert curve.at(np.array([10.0, 10.5, 41.0])).tolist() == [
        curve.executors[0],
        curve.executors[1],
        curve.executors[2],
    ]


@settings(max_examples=20)
@given(curves, st.integers(1, 300), st.floats(0, 50), st.integers(1, 5))
def test_the_demand_of_an_even_load_is_that_of_its_rate_all_along(
    curve: DemandCurve, seconds: int, rate: float, least: int
) -> None:
    minutes = minute_rates(lambda t_s: rate * t_s, float(seconds))
    assert len(minutes.t_s) == math.ceil(seconds / 60)
    assert minutes.values == pytest.approx(rate)
    needed = demand_over(curve, lambda t_s: 15.0 * t_s, float(seconds), least)
    assert set(needed.values) == {max(curve.executors[1], least)}


@settings(max_examples=20)
@given(st.lists(st.tuples(curves, st.booleans()), min_size=1, max_size=5))
def test_the_median_over_seeds_lies_between_the_least_and_the_most(
    seeds: list[tuple[DemandCurve, bool]],
) -> None:
    made = [DemandCurve(curve.rates, curve.executors, (True, True, held)) for curve, held in seeds]
    for each in demands(made):
        low, middle, high = (
            math.inf if size is None else size for size in (each.low, each.executors, each.high)
        )
        assert low <= middle <= high
    assert (demands(made)[2].high is None) == (not all(held for _, held in seeds))


@settings(max_examples=20)
@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(), max_size=3) | st.integers()))
def test_a_grid_has_every_combination_once(given_: dict[str, list[int] | int]) -> None:
    found = list(grid_of(given_))
    assert len(found) == math.prod(
        len(value) if isinstance(value, list) else 1 for value in given_.values()
    )
    for each in found:
        assert each.keys() == given_.keys()
        assert all(
            each[name] in value if isinstance(value, list) else each[name] == value
            for name, value in given_.items()
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
    found = score(bound + between * (static - bound), static, bound, attained=True)
    assert found == pytest.approx(1 - between, abs=1e-6)
    assert score(bound, static, bound, attained=False) is None
    assert score(static, static, static, attained=True) is None


@pytest.mark.parametrize("trigger_s", [0.0, 1.0, 10.0, 60.0])
@pytest.mark.parametrize("max_rows", [math.inf, 5000.0])
@pytest.mark.parametrize("duration_s", [600.0, 86_400.0])
def test_a_trigger_is_whole_steps_of_the_grid(
    trigger_s: float, max_rows: float, duration_s: float
) -> None:
    job = Job(batch_s=lambda rows, _: rows, trigger_s=trigger_s, max_rows=max_rows)
    step_s = grid_step_s(job, duration_s)
    assert step_s > 0
    assert trigger_s / step_s == pytest.approx(round(trigger_s / step_s))
