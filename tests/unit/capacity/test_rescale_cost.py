"""Start times learned from observations, between which nothing is known."""

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
            there = size if t_s - requested_s >= takes_s else size - 1
            known = known.observe(t_s, size, there)
    return known


@pytest.mark.parametrize("tick_s", [3.0, 5.0, 15.0])
def test_a_start_time_is_as_exact_as_the_observations_allow(tick_s: float) -> None:
    assert 7.0 <= started(10.0, tick_s).start_s <= 10.0 + tick_s


def test_executors_that_start_before_the_next_observation_are_fast() -> None:
    known = started(2.0, 5.0)
    assert known.start_s <= 6.0
    assert known.variance < 0.09


def test_observations_that_are_far_apart_do_not_make_starts_uncertain() -> None:
    assert started(13.0, 15.0).start_within_s(1.28) < 18.0


def test_the_start_of_the_first_executor_is_expected_of_others() -> None:
    known = RescaleCost().with_first_start(60.0)
    assert known.start_s == pytest.approx(60.0)
    assert known.variance == RescaleCost().variance


def test_starts_that_were_requested_count_for_more_than_the_first_executor() -> None:
    known = started(10.0, 3.0)
    assert known.with_first_start(60.0).start_s == known.start_s


def test_a_first_executor_that_a_full_cluster_delayed_is_ignored() -> None:
    assert RescaleCost() == RescaleCost().with_first_start(900.0)
    assert RescaleCost() == RescaleCost().with_first_start(0.0)


def test_executors_that_do_not_start_within_five_minutes_are_lost() -> None:
    known = RescaleCost().observe(0.0, 1, 1).observe(5.0, 2, 1)
    assert [executors for _, executors in known.pending(10.0, z=0.0)] == [2]
    assert known.observe(400.0, 2, 1).is_lost
    assert not known.observe(400.0, 2, 2).is_lost
