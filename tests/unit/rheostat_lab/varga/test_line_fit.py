"""Lines, positions and gaps from repeated measurements."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat_lab.varga.gaps import downtime_s
from rheostat_lab.varga.line_fit import linear, places
from rheostat_lab.varga.load_time import load_times


@given(st.floats(-50, 50), st.floats(-50, 50))
def test_points_on_a_line_give_that_line(slope: float, intercept: float) -> None:
    fit = linear([(x, slope * x + intercept) for x in (1.0, 2.0, 5.0, 9.0)])
    assert fit is not None
    assert (fit.slope, fit.intercept) == pytest.approx((slope, intercept), abs=1e-6)


def test_r2_is_the_explained_share_of_the_variance() -> None:
    # By hand: y = 1, 3, 2 at 0, 1, 2: slope 0.5, residual sum 1.5 of 2.
    fit = linear([(0.0, 1.0), (1.0, 3.0), (2.0, 2.0)])
    assert fit is not None
    assert (fit.slope, fit.intercept, fit.r2, fit.n) == pytest.approx((0.5, 1.5, 0.25, 3))


@pytest.mark.parametrize("points", [[], [(1.0, 1.0)] * 2, [(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]])
def test_too_few_points_give_no_line(points: list[tuple[float, float]]) -> None:
    assert linear(points) is None


def test_positions_are_sorted_with_their_spread() -> None:
    (first, second) = places([(2.0, 5.0), (1.0, 1.0), (1.0, 3.0)])
    assert (first.x, first.mean, first.low, first.high, first.n) == (1.0, 2.0, 1.0, 3.0, 2)
    assert second.n == 1


def test_downtime_is_the_longest_pause_minus_the_usual_one() -> None:
    ends_s = [0.0, 1.0, 2.0, 3.0, 13.0, 14.0, 40.0]
    assert downtime_s(ends_s, ordered_s=3.5, settled_s=13.5) == 9.0


def test_an_unnoticed_change_has_no_downtime() -> None:
    assert downtime_s([0.0, 1.0, 2.0, 3.0, 4.0], ordered_s=2.5, settled_s=3.5) == 0.0


@pytest.mark.parametrize("ends_s", [[], [0.0, 1.0, 20.0], [0.0, 1.0, 2.0]])
def test_without_surrounding_batches_the_downtime_is_unknown(ends_s: list[float]) -> None:
    assert downtime_s(ends_s, ordered_s=2.5, settled_s=3.0) is None


def test_load_time_is_the_extra_time_of_the_first_batch() -> None:
    result = load_times([[3.0, 5.0], [1.0, 1.0]])
    assert (result["mean_s"], result["max_s"], result["usual_s"]) == (3.0, 4.0, 1.0)
