import pytest

from rheostat.signals.latency import ArrivalCurve, Spread, mean_s

PAUSE = ArrivalCurve([(0.0, 0.0), (10.0, 100.0), (70.0, 100.0), (71.0, 200.0)])


@pytest.mark.parametrize(
    ("row", "t_s"),
    [(0.0, 0.0), (50.0, 5.0), (150.0, 70.5), (200.0, 71.0), (-1.0, None), (200.5, None)],
)
def test_the_append_time_of_a_row_is_read_from_the_curve(row, t_s):
    assert PAUSE.time_of(row) == t_s


def test_the_first_row_after_a_pause_dates_from_its_end():
    assert PAUSE.time_of(100.0) == 70.0


def test_an_empty_curve_gives_no_latency():
    assert ArrivalCurve([]).time_of(0.0) is None
    assert ArrivalCurve([]).latencies(0.0, 10.0, 1.0) == []


def test_the_latency_after_a_pause_excludes_the_pause():
    assert PAUSE.latencies(100.0, 200.0, 72.0) == [Spread(1.0, 2.0, 100.0)]


def test_a_batch_across_a_pause_has_separate_spreads_before_and_after():
    assert PAUSE.latencies(50.0, 150.0, 72.0) == [Spread(62.0, 67.0, 50.0), Spread(1.5, 2.0, 50.0)]


def test_a_burst_at_one_moment_has_one_latency():
    burst = ArrivalCurve([(0.0, 0.0), (5.0, 0.0), (5.0, 40.0), (9.0, 40.0)])
    assert burst.latencies(0.0, 40.0, 7.0) == [Spread(2.0, 2.0, 40.0)]


def test_rows_outside_the_curve_are_excluded():
    assert PAUSE.latencies(150.0, 900.0, 72.0) == [Spread(1.0, 1.5, 50.0)]


def test_without_rows_there_is_no_latency():
    assert mean_s([]) is None


def test_the_mean_is_weighted_by_rows():
    assert mean_s([Spread(0.0, 2.0, 30.0), Spread(5.0, 5.0, 10.0)]) == 2.0
