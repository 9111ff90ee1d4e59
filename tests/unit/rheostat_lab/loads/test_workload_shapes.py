from __future__ import annotations

import math

import pytest

from rheostat.errors import BadInput
from rheostat.sim.workload import Constant
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.due_rows import DueRows, rows_until
from rheostat_lab.loads.marks import marks
from rheostat_lab.loads.ramp import Ramp
from rheostat_lab.loads.steps import Steps
from rheostat_lab.loads.trace import Trace


def test_without_noise_the_cosine_follows_the_published_formula() -> None:
    load = Cosine(shift=150_000, amplitude=100_000, noise=0)
    for minute in (0, 7, 15, 30, 59, 60, 139):
        wanted = 150_000 + 100_000 * math.cos(2 * math.pi * minute / 60)
        assert load.rate_per_s(minute * 60) == pytest.approx(wanted)


def test_the_cosine_holds_its_rate_for_a_minute() -> None:
    load = Cosine()
    assert load.rate_per_s(60) == load.rate_per_s(119.9)
    assert load.rate_per_s(60) != load.rate_per_s(120)


def test_cosine_noise_fills_its_range_and_depends_on_the_seed() -> None:
    flat = [Cosine(shift=100, amplitude=0, noise=10, seed=1).rate_per_s(60 * i) for i in range(500)]
    assert 90 <= min(flat) < 91
    assert 109 < max(flat) <= 110
    assert flat == [
        Cosine(shift=100, amplitude=0, noise=10, seed=1).rate_per_s(60 * i) for i in range(500)
    ]
    assert flat != [
        Cosine(shift=100, amplitude=0, noise=10, seed=2).rate_per_s(60 * i) for i in range(500)
    ]


def test_a_cosine_below_zero_is_cut_at_zero() -> None:
    assert Cosine(shift=10, amplitude=100, noise=0).rate_per_s(30 * 60) == 0


def test_steps_hold_their_levels_and_the_last_one_continues() -> None:
    load = Steps((1, 5, 2), hold_s=10)
    assert [load.rate_per_s(t) for t in (0, 9.9, 10, 19.9, 20, 1000)] == [1, 1, 5, 5, 2, 2]
    assert load.duration_s == 30


def test_a_ramp_is_linear_between_its_marks() -> None:
    load = Ramp(low=100, high=300, begin_s=10, ramp_s=4)
    assert [load.rate_per_s(t) for t in (0, 10, 11, 12, 14, 99)] == [100, 100, 150, 200, 300, 300]
    assert marks(load) == {"ramp_start_s": 10, "ramp_end_s": 14}


def test_a_day_has_night_afternoon_peak_and_night_again() -> None:
    day = Day(low=300, peak=3000, noise=0)
    ramp = marks(day)
    night, plateau, peak, late = (day.rate_per_s(t) for t in (0, 80, ramp["ramp_end_s"] + 5, 239))
    quiet = day.rate_per_s(ramp["ramp_start_s"] - 1)
    assert night == late == 300
    assert night < quiet < plateau < peak == 3000
    assert day.duration_s == 240


def test_the_marked_ramp_is_the_steepest_part_of_a_day() -> None:
    day = Day(noise=0)
    slopes = {t: day.rate_per_s(t + 1) - day.rate_per_s(t) for t in range(239)}
    steepest = max(slopes, key=lambda t: abs(slopes[t]))
    assert day.marks["ramp_start_s"] - 1 <= steepest <= day.marks["ramp_end_s"]
    outside = [
        abs(slope)
        for t, slope in slopes.items()
        if not day.marks["ramp_start_s"] - 1 <= t <= day.marks["ramp_end_s"]
    ]
    assert slopes[steepest] > 3 * max(outside)


def test_a_longer_day_has_the_same_shape() -> None:
    short, long = Day(noise=0, day_s=240), Day(noise=0, day_s=2400)
    assert [short.rate_per_s(t) for t in range(240)] == pytest.approx(
        [long.rate_per_s(10 * t) for t in range(240)]
    )


def test_the_noise_of_a_day_is_small() -> None:
    noisy, plain = Day(noise=0.03), Day(noise=0)
    ratios = [noisy.rate_per_s(t) / plain.rate_per_s(t) for t in range(240)]
    assert 0.97 <= min(ratios) < 0.98
    assert 1.02 < max(ratios) <= 1.03


def test_a_trace_holds_every_sample_and_ends() -> None:
    load = Trace((5, 6, 8), (10, 20, 30))
    assert [load.rate_per_s(t) for t in (-1, 0, 0.9, 1, 2.9, 3, 4.9, 5)] == [
        0,
        10,
        10,
        20,
        20,
        30,
        30,
        0,
    ]
    assert load.duration_s == 5


def test_both_axes_of_a_trace_can_be_scaled() -> None:
    load = Trace((0, 60), (10, 20), time_scale=0.5, rate_scale=3)
    assert (load.rate_per_s(29), load.rate_per_s(31), load.duration_s) == (30, 60, 60)


def test_a_constant_load_has_no_marks_and_no_end() -> None:
    load = Constant(5)
    assert (load.rate_per_s(1e6), load.duration_s, dict(marks(load))) == (5, None, {})


def test_due_rows_are_the_integral_of_the_rate() -> None:
    assert rows_until(Constant(1000), 240) == 240_000
    assert rows_until(Ramp(low=0, high=100, begin_s=0, ramp_s=10), 10) == 500
    assert rows_until(Steps((10, 20), hold_s=60), 120) == 1800
    assert rows_until(Trace((0, 1, 2), (3, 4, 5)), 99) == 12


def test_due_rows_do_not_depend_on_earlier_queries() -> None:
    day, due = Day(), DueRows(Day())
    times_s = [0.013, 0.05, 3.3, 3.31, 77.7, 139.99, 139.99, 240.0]
    assert [due.until(t) for t in times_s] == [rows_until(day, t) for t in times_s]


def test_no_rows_are_due_before_the_start() -> None:
    assert rows_until(Constant(1000), -5) == 0


def test_a_longer_ramp_ends_before_the_peak_ends():
    gentle = Day(low=0, peak=100, noise=0, ramp_share=0.12)
    begin, end = gentle.marks["ramp_start_s"], gentle.marks["ramp_end_s"]
    assert (begin, end) == pytest.approx((0.58 * 240, 0.70 * 240))
    assert gentle.rate_per_s((begin + end) / 2) == pytest.approx(60)
    assert gentle.rate_per_s(end) == gentle.rate_per_s(0.739 * 240) == pytest.approx(100)


@pytest.mark.parametrize("share", [0.0, -0.1, 0.17, 1.0])
def test_a_ramp_that_does_not_fit_is_rejected(share):
    with pytest.raises(BadInput, match=f"ramp_share.*{share}"):
        Day(ramp_share=share)
