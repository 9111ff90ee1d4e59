"""Start times are learned from discrete observations."""

import pytest

from rheostat.capacity.rescale_cost import RescaleCost


def started(takes_s: float, tick_s: float, times: int = 6) -> RescaleCost:
    """Return the cost after ``times`` starts of one executor, observed every ``tick_s``."""
    known = RescaleCost().observe(0.0, 1, 1)
    t_s, size = 0.0, 1
    for _ in range(times):
        requested_s, size = t_s, size + 1
        while known.executors < size:
            t_s += tick_s
            registered = size if t_s - requested_s >= takes_s else size - 1
            known = known.observe(t_s, size, registered)
    return known


@pytest.mark.parametrize("tick_s", [3.0, 5.0, 15.0])
def test_a_start_time_is_exact_to_one_tick(tick_s: float) -> None:
    assert 7.0 <= started(10.0, tick_s).start_s <= 10.0 + tick_s


def test_executors_that_start_within_one_tick_have_a_short_start_time() -> None:
    known = started(2.0, 5.0)
    assert known.start_s <= 6.0
    assert known.variance < 0.09


def test_long_ticks_do_not_make_start_times_uncertain() -> None:
    assert started(13.0, 15.0).start_within_s(1.28) < 18.0


def test_the_first_executor_start_predicts_later_starts() -> None:
    known = RescaleCost().with_first_start(60.0)
    assert known.start_s == pytest.approx(60.0)
    assert known.variance == RescaleCost().variance


def test_observed_rescales_take_precedence_over_the_first_start() -> None:
    known = started(10.0, 3.0)
    assert known.with_first_start(60.0).start_s == known.start_s


def test_an_implausible_first_start_is_ignored() -> None:
    assert RescaleCost() == RescaleCost().with_first_start(900.0)
    assert RescaleCost() == RescaleCost().with_first_start(0.0)


def test_executors_not_started_within_five_minutes_are_lost() -> None:
    known = RescaleCost().observe(0.0, 1, 1).observe(5.0, 2, 1)
    assert [executors for _, executors in known.pending(10.0, z=0.0)] == [2]
    assert known.observe(400.0, 2, 1).is_lost
    assert not known.observe(400.0, 2, 2).is_lost
