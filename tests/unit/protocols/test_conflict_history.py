from __future__ import annotations

from rheostat.protocols.size_in_force import MOST, WITHIN_S, ConflictHistory


def after(*times_s: float) -> ConflictHistory:
    history = ConflictHistory()
    for at_s in times_s:
        history = history.recorded(3, at_s)
    return history


def test_three_writes_within_two_minutes_are_a_conflict() -> None:
    assert not ConflictHistory().is_conflict(0.0)
    assert not after(0.0, 15.0).is_conflict(15.0)
    assert after(0.0, 15.0, 30.0).is_conflict(30.0)
    assert not after(0.0, 100.0, 200.0).is_conflict(200.0)


def test_a_conflict_ends_when_the_other_program_stops() -> None:
    history = after(*range(100))
    assert history.is_conflict(99.0 + WITHIN_S - MOST)
    assert not history.is_conflict(99.0 + WITHIN_S)


def test_only_the_decisive_times_are_stored() -> None:
    assert len(after(*range(1000)).times_s) == MOST


def test_a_clock_set_back_does_not_prolong_a_conflict() -> None:
    history = after(5000.0, 5001.0, 5002.0)
    assert not history.is_conflict(10.0)
    assert history.recorded(4, 10.0).times_s == (10.0,)
