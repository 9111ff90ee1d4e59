import json

import numpy as np
import pytest

from rheostat.signals.statistics.windows import (
    at_most_quantile,
    deriv,
    growth_per_s,
    mean,
    slopes,
    within,
)

# Computed by hand: t = 0, 10, 20, 30 and v = 1, 3, 2, 6 have means 15 and 3; the sum of products is
# 70, that of squares 500.
SAMPLES = [(0.0, 1.0), (10.0, 3.0), (20.0, 2.0), (30.0, 6.0)]


def test_deriv_is_the_least_squares_slope():
    assert deriv(SAMPLES) == pytest.approx(70 / 500)


def test_deriv_does_not_depend_on_the_epoch():
    assert deriv([(t + 1.8e9, v) for t, v in SAMPLES]) == pytest.approx(70 / 500)


def test_deriv_weighs_all_samples_not_only_the_ends():
    assert deriv([(0.0, 0.0), (10.0, 9.0), (20.0, 0.0), (30.0, 0.0)]) == pytest.approx(-45 / 500)


@pytest.mark.parametrize("samples", [[], [(1.0, 2.0)], [(1.0, 2.0), (1.0, 5.0)]])
def test_deriv_needs_samples_at_two_times(samples):
    assert deriv(samples) is None


def test_column_slopes_match_single_series_and_skip_missing_values():
    times = [t for t, _ in SAMPLES]
    assert slopes(
        times, [[v for _, v in SAMPLES], [None, 0.0, 5.0, None], [None, None, None, 1.0]]
    ) == pytest.approx([70 / 500, 0.5, None])
    assert slopes([], [[], []]) == [None, None]


def test_a_constant_has_a_slope_of_exactly_zero():
    times = [1_795_000_000.1 + n * 5.3 for n in range(25)]
    assert slopes(times, [[7.3] * 25, [4.0] * 25]) == [0.0, 0.0]


def test_mean_is_not_weighted_by_time():
    assert mean([(0.0, 1.0), (1.0, 1.0), (100.0, 4.0)]) == 2.0
    assert mean([]) is None


def test_a_window_includes_both_edges_and_excludes_the_future():
    assert within(SAMPLES, 20.0, 10.0) == [(10.0, 3.0), (20.0, 2.0)]
    assert within(SAMPLES, -1.0, 10.0) == []


def test_a_window_accepts_samples_parsed_from_json():
    assert within(json.loads("[[1.0, 2.0]]"), 1.0, 5.0) == [(1.0, 2.0)]


def test_growth_is_the_increase_of_a_counter_per_second():
    assert growth_per_s([(0.0, 10.0), (5.0, 11.0), (10.0, 30.0)]) == 2.0
    assert growth_per_s([(0.0, 10.0), (10.0, 10.0)]) == 0.0


@pytest.mark.parametrize(
    "samples", [[], [(0.0, 1.0)], [(1.0, 1.0), (1.0, 9.0)], [(0.0, 10.0), (10.0, 3.0)]]
)
def test_growth_is_unknown_without_two_times_or_after_a_reset(samples):
    assert growth_per_s(samples) is None


@pytest.mark.parametrize("q", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_the_quantile_matches_numpys_lower_method(q):
    values = [5.0, 1.0, 4.0, 9.0, 2.0, 2.0, 7.0]
    assert at_most_quantile(values, q) == np.quantile(values, q, method="lower")


def test_one_outlier_among_few_values_is_not_the_quantile():
    assert at_most_quantile([10.0, 1000.0], 0.9) == 10.0
