import math

from hypothesis import example, given
from hypothesis import strategies as st

from rheostat.signals.statistics.windows import newest

RISEN = [(0.0, 100.0), (10.0, 100.0), (20.0, 300.0)]


def test_the_newest_rows_arrived_at_the_latest_rate():
    assert newest(RISEN, rows=1500.0) == (1500.0, 5.0)


def test_older_rows_arrived_at_earlier_rates():
    assert newest(RISEN, rows=3500.0) == (3500.0, 15.0)


def test_before_the_first_sample_its_rate_applies():
    assert newest(RISEN, rows=5000.0) == (5000.0, 30.0)


def test_a_duration_is_converted_to_rows():
    assert newest(RISEN, seconds=15.0) == (3500.0, 15.0)


def test_rows_that_never_arrived_are_excluded():
    assert newest([(0.0, 0.0), (10.0, 50.0)], rows=900.0) == (500.0, 10.0)


def test_without_rates_no_rows_arrived():
    assert newest([], rows=10.0) == (0.0, 0.0)


def test_two_samples_at_the_same_time_are_accepted():
    assert newest([(0.0, 100.0), (10.0, 100.0), (10.0, 70.0)], rows=500.0) == (500.0, 5.0)


@given(
    st.lists(st.tuples(st.floats(0, 1e4), st.floats(0, 1e6)), max_size=8).map(sorted),
    st.floats(0, 1e9),
    st.floats(0, 1e5),
)
@example(
    rates=[(0.0, 3e-224), (5127.0, 921372.0), (5530.634975812051, 506697.625)],
    rows=738495771.0,
    seconds=984.0,
)
def test_neither_limit_is_exceeded(rates, rows, seconds):
    result, age_s = newest(rates, rows, seconds)
    assert 0 <= result <= rows
    assert 0 <= age_s <= seconds * (1 + 1e-9)
    assert math.isfinite(result)
