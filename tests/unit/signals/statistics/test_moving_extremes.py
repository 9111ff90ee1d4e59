import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.signals.statistics.windows import highest, lowest

WINDOW_S = 60.0


@given(
    values=st.lists(st.integers(0, 9), min_size=1, max_size=60),
    step_s=st.sampled_from([5.0, 7.0, 30.0]),
)
def test_the_extreme_covers_the_window_with_few_samples(values, step_s):
    high, low = [], []  # type: ignore[var-annotated]
    for n, value in enumerate(values):
        high, low = (
            highest(high, n * step_s, value, WINDOW_S),
            lowest(low, n * step_s, value, WINDOW_S),
        )
        window = [v for m, v in enumerate(values[: n + 1]) if n * step_s - WINDOW_S < m * step_s]
        assert (high[0][1], low[0][1]) == (max(window), min(window))
        assert len(high) <= 10
        assert len(low) <= 10


@pytest.mark.parametrize(("age_s", "expected"), [(59.9, 9), (60.0, 3)])
def test_the_window_excludes_its_old_end(age_s, expected):
    assert highest([(100.0 - age_s, 9)], 100.0, 3, WINDOW_S)[0][1] == expected


def test_a_window_of_zero_keeps_only_the_newest_sample():
    assert highest([(100.0, 9)], 105.0, 3, 0.0) == [(105.0, 3)]


def test_future_samples_are_dropped():
    assert lowest([(90_000.0, 1)], 100.0, 3, WINDOW_S) == [(100.0, 3)]
