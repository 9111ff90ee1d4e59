from __future__ import annotations

from rheostat.rescaling.conflict_history import MOST, WITHIN_S, ConflictHistory


def after(*times_s: float) -> ConflictHistory:
    hand = ConflictHistory()
    for at_s in times_s:
        hand = hand.seen(3, at_s)
    return hand


def test_once_or_twice_is_no_fight_and_three_times_within_two_minutes_is() -> None:
    assert not ConflictHistory().fights(0.0)
    assert not after(0.0, 15.0).fights(15.0)
    assert after(0.0, 15.0, 30.0).fights(30.0)
    assert not after(0.0, 100.0, 200.0).fights(200.0)


def test_a_fight_is_over_when_the_other_one_stops() -> None:
    hand = after(*range(100))
    assert hand.fights(99.0 + WITHIN_S - MOST)
    assert not hand.fights(99.0 + WITHIN_S)


def test_no_more_is_kept_than_tells_a_fight() -> None:
    assert len(after(*range(1000)).times_s) == MOST


def test_a_clock_that_is_put_back_makes_no_fight_of_hours() -> None:
    hand = after(5000.0, 5001.0, 5002.0)
    assert not hand.fights(10.0)
    assert hand.seen(4, 10.0).times_s == (10.0,)
