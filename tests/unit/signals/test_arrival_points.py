from __future__ import annotations

from itertools import pairwise

from rheostat.signals.latency import MAX_POINTS, ArrivalCurve, with_point


def test_points_are_kept_in_time_order() -> None:
    assert with_point(((1.0, 10.0), (5.0, 50.0)), 3.0, 20.0) == (
        (1.0, 10.0),
        (3.0, 20.0),
        (5.0, 50.0),
    )


def test_a_contradictory_point_is_ignored() -> None:
    points = ((1.0, 10.0), (5.0, 50.0))
    for t_s, rows in ((3.0, 60.0), (3.0, 5.0), (5.0, 70.0)):
        assert with_point(points, t_s, rows) == points


def test_a_recreated_topic_starts_a_new_curve() -> None:
    assert with_point(((1.0, 10.0), (5.0, 50.0)), 9.0, 3.0) == ((9.0, 3.0),)


def test_a_day_of_points_needs_bounded_memory_and_keeps_small_gaps() -> None:
    points: tuple[tuple[float, float], ...] = ()
    for n in range(17_280):
        points = with_point(points, 5.0 * n, 100.0 * n)
    assert len(points) == MAX_POINTS
    now = points[-1][0]
    assert points[0][0] == 0.0
    gaps = [(late - early, now - early) for (early, _), (late, _) in pairwise(points)]
    assert all(gap_s <= max(5.0, 0.1 * age_s) for gap_s, age_s in gaps)


def test_queued_rows_have_an_oldest_and_a_mean_wait() -> None:
    curve = ArrivalCurve([(0.0, 0.0), (10.0, 100.0), (60.0, 100.0), (70.0, 110.0)])
    waits = curve.waits(60.0, 80.0)
    assert waits is not None
    assert waits.oldest_s == 75.0
    assert abs(waits.mean_s - (50 * 72.5 + 10 * 15.0) / 60) < 1e-9


def test_rows_before_the_curve_have_no_wait_and_an_empty_queue_zero() -> None:
    curve = ArrivalCurve([(0.0, 50.0), (10.0, 100.0)])
    assert curve.waits(51.0, 12.0) is None
    assert ArrivalCurve([]).waits(1.0, 12.0) is None
    empty = ArrivalCurve([]).waits(0.0, 12.0)
    assert empty is not None
    assert (empty.oldest_s, empty.mean_s) == (0.0, 0.0)
