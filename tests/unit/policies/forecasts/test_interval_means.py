from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rheostat.policies.forecasts.interval_means import with_rate


def series(samples: list[tuple[float, float]], most: int = 10) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for t_s, rate in samples:
        kept = with_rate(kept, t_s, rate, 10.0, most)
    return kept


def test_an_interval_mean_is_stored_when_the_next_interval_begins():
    assert series([(0.0, 1.0), (5.0, 3.0)])["means"] == []
    assert series([(0.0, 1.0), (5.0, 3.0), (10.0, 7.0)])["means"] == [2.0]


def test_empty_intervals_repeat_the_previous_mean():
    assert series([(0.0, 4.0), (35.0, 8.0)])["means"] == [4.0, 4.0, 4.0]


def test_a_long_gap_or_a_clock_set_back_restarts_the_series():
    assert series([(0.0, 1.0), (10.0, 1.0), (1000.0, 5.0)])["means"] == []
    assert series([(500.0, 1.0), (510.0, 1.0), (0.0, 5.0)])["means"] == []


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_the_series_is_bounded_and_means_lie_within_the_rates(rates):
    means = series([(3.0 * n, rate) for n, rate in enumerate(rates)], most=5)["means"]
    assert len(means) <= 5
    assert all(min(rates) - 1e-6 <= mean <= max(rates) + 1e-6 for mean in means)
