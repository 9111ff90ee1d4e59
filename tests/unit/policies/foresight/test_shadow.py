"""A shadow pays for its size, is late where the size is too small, and a day of it is believed."""

from typing import Any

import pytest

from rheostat.policies.foresight.shadow import Terms, ahead, better, shadow_observation


def terms(t_s: float, rate: float = 1000.0, since_s: float = 5.0) -> Terms:
    return Terms(
        t_s=t_s,
        since_s=since_s,
        rate=rate,
        batch_s=lambda rows, executors: 0.2 + rows / (500.0 * executors),
        trigger_s=2.0,
        aim_s=10.0,
        start_s=20.0,
        rescale_cost=30.0,
    )


def after(seconds: float, wanted: int, shadow: Any = None) -> dict[str, Any]:
    found: dict[str, Any] = {**(shadow or {})}
    for n in range(1, int(seconds / 5) + 1):
        found = ahead(found, terms(5.0 * n), wanted)
    return found


def test_a_size_that_is_enough_has_no_late_row_and_costs_what_it_holds() -> None:
    shadow = after(600, 4)
    assert shadow["late"] == 0
    assert shadow["cost"] == pytest.approx(4 * 600, rel=0.02)
    assert shadow_observation(shadow, terms(600.0)).executors == 4


def test_a_size_that_is_too_small_is_late_and_lags() -> None:
    shadow = after(600, 1)
    assert shadow["late"] > 0.2 * shadow["rows"]
    assert (shadow_observation(shadow, terms(600.0)).lag_rows or 0) > 100_000


def test_rows_are_neither_lost_nor_made() -> None:
    shadow = after(600, 4)
    seen = shadow_observation(shadow, terms(600.0))
    assert 0 <= (seen.lag_rows or 0) <= 5 * 1000.0 + 1


def test_more_executors_come_after_their_start_and_are_paid_from_the_request() -> None:
    shadow = ahead(after(100, 1), terms(105.0), 4)
    assert shadow["size"] == 1
    assert shadow_observation(shadow, terms(105.0)).target == 4
    assert after(200, 4, {**shadow, "coming": [0.0, 4]})["size"] == 4


def way(cost: float, late: float = 0.0) -> dict[str, Any]:
    return {"cost": cost, "late": late, "rows": 1000.0}


def test_another_is_better_only_after_a_day_by_a_tenth_and_if_it_kept_the_objective() -> None:
    assert better("ours", {"ours": way(120), "4": way(100), "1": way(50, 500)}, 90_000.0) == "4"
    assert better("ours", {"ours": way(120), "4": way(100)}, 3600.0) == "ours"
    assert better("ours", {"ours": way(109), "4": way(100)}, 90_000.0) == "ours"
    assert better("ours", {"ours": way(120), "1": way(50, 500)}, 90_000.0) == "ours"


def test_who_has_got_the_place_keeps_it_until_another_is_better_by_a_tenth() -> None:
    assert better("4", {"ours": way(95), "4": way(100)}, 90_000.0) == "4"
    assert better("4", {"ours": way(90), "4": way(100)}, 90_000.0) == "ours"


def test_a_way_that_does_not_keep_the_objective_has_to_go() -> None:
    assert better("4", {"ours": way(120), "4": way(100, 20)}, 90_000.0) == "ours"
    assert better("4", {"ours": way(120, 20), "4": way(100, 20)}, 90_000.0) is None
