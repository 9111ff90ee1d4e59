"""A line through samples that favours the newest ones."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.capacity.identify import EMPTY, Moments, fitted_line, with_sample

FORGET = 0.02


def with_samples(
    moments: Moments, xs: list[float], fixed: float, rise: float, seed: int = 1
) -> Moments:
    chance = random.Random(seed)
    for x in xs:
        y = (fixed + rise * x) * chance.gauss(1.0, 0.02)
        moments = with_sample(moments, x, y, FORGET)
    return moments


def test_hours_at_one_rate_do_not_erase_the_slope() -> None:
    day = with_samples(EMPTY, [1000.0, 8000.0] * 100, fixed=2.0, rise=0.001)
    night = with_samples(day, [1000.0] * 5000, fixed=2.0, rise=0.001, seed=2)
    assert fitted_line(night) == pytest.approx((2.0, 0.001), rel=0.1)


def test_samples_at_a_single_x_give_a_pure_slope() -> None:
    assert fitted_line(with_samples(EMPTY, [1000.0] * 50, fixed=2.0, rise=0.001)) == pytest.approx(
        (0.0, 0.003), abs=0.01
    )


def test_a_doubled_slope_is_learned_within_two_hundred_samples() -> None:
    before = with_samples(EMPTY, [1000.0, 8000.0] * 100, fixed=2.0, rise=0.001)
    after = with_samples(before, [1000.0, 8000.0] * 100, fixed=2.0, rise=0.002)
    assert fitted_line(after)[1] == pytest.approx(0.002, rel=0.1)


@given(st.lists(st.tuples(st.floats(1, 1e7), st.floats(1e-3, 1e3)), min_size=1, max_size=300))
def test_slope_and_intercept_are_never_negative(
    samples: list[tuple[float, float]],
) -> None:
    moments: Moments = EMPTY
    for x, y in samples:
        moments = with_sample(moments, x, y, FORGET)
    intercept, slope = fitted_line(moments)
    largest = max(y for _, y in samples)
    assert 0 <= intercept <= largest * 1.01
    assert slope >= 0
