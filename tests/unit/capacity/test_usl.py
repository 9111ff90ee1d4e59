"""The concave curve and its fit."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.capacity.usl import Usl, fit
from rheostat.errors import BadInput


def test_without_contention_it_is_linear() -> None:
    assert [Usl().capacity(n) for n in (0, 0.5, 1, 7)] == [0, 0.5, 1, 7]
    assert Usl().peak == math.inf


def test_contention_alone_is_amdahls_law() -> None:
    assert Usl(sigma=0.25).capacity(1e9) == pytest.approx(4, rel=1e-6)


def test_with_coherency_there_is_a_peak() -> None:
    curve = Usl(sigma=0.04, kappa=0.0024)
    assert curve.peak == pytest.approx(20.0)
    assert curve.capacity(20) > max(curve.capacity(19), curve.capacity(21))


def test_the_slowdown_is_slots_over_capacity() -> None:
    curve = Usl(sigma=0.1, kappa=0.01)
    assert curve.slowdown(8) == pytest.approx(8 / curve.capacity(8))


@given(one=st.floats(1, 1e6), sigma=st.floats(0, 0.5), kappa=st.floats(0, 0.05))
def test_a_curve_is_found_again_from_what_it_gives(one: float, sigma: float, kappa: float) -> None:
    curve = Usl(sigma, kappa)
    sizes = [1, 2, 3, 5, 8, 13]
    found_one, found = fit(sizes, [one * curve.capacity(n) for n in sizes])
    assert found_one == pytest.approx(one, rel=1e-6)
    assert found.sigma == pytest.approx(sigma, abs=1e-6)
    assert found.kappa == pytest.approx(kappa, abs=1e-6)


def test_a_fit_never_has_negative_terms() -> None:
    _, found = fit([1, 2, 4], [100.0, 210.0, 450.0])  # better than linear
    assert (found.sigma, found.kappa) == (0.0, 0.0)


def test_two_sizes_are_enough_for_contention() -> None:
    one, found = fit([1, 4], [100.0, 250.0])
    assert one == pytest.approx(100.0)
    assert found.capacity(4) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("sizes", "rates"), [([1], [5.0]), ([2, 2], [5.0, 6.0]), ([1, 2], [5.0, 0.0]), ([1, 2], [5.0])]
)
def test_too_little_to_fit_is_bad_input(sizes: list[float], rates: list[float]) -> None:
    with pytest.raises(BadInput, match="two different numbers of slots"):
        fit(sizes, rates)


def test_a_curve_out_of_range_is_bad_input() -> None:
    with pytest.raises(BadInput, match="between 0 and 1"):
        Usl(sigma=1.5)
