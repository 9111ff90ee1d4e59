"""The pauses of a query, derived from its trigger and its batches."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.signals.rhythm import RECENT, REMEMBERED, BatchTime, Rhythm


def after(rhythm: Rhythm, *batches_s: float, moved: bool = False) -> Rhythm:
    for batch_s in batches_s:
        number = rhythm.last.number + 1 if rhythm.last else 0
        rhythm = rhythm.after(BatchTime(number, 3.0 * number, batch_s), moved)
    return rhythm


def test_a_pause_is_the_trigger_interval_minus_the_typical_batch():
    rhythm = Rhythm(trigger_s=3.0)
    assert after(rhythm, 0.9, 1.0, 1.1).usual_pause_s == pytest.approx(2.0)
    assert after(rhythm, 4.0).usual_pause_s == 0.0
    assert rhythm.usual_pause_s is None


def test_a_batch_with_state_moves_is_recent_but_not_typical():
    rhythm = after(after(Rhythm(trigger_s=3.0), 1.0), 0.5, moved=True)
    assert rhythm.usual_batch_s == 1.0
    assert (rhythm.shortest_batch_s, rhythm.longest_pause_s) == (0.5, 2.5)


def test_old_batches_are_dropped():
    rhythm = after(Rhythm(trigger_s=3.0), 0.1, *[1.0] * RECENT)
    assert rhythm.shortest_batch_s == 1.0
    rhythm = after(Rhythm(), *[9.0] * REMEMBERED, *[1.0] * REMEMBERED)
    assert rhythm.usual_batch_s == 1.0


@pytest.mark.parametrize("rhythm", [Rhythm(trigger_s=3.0), after(Rhythm(), 1.0)])
def test_without_a_batch_or_an_interval_the_pause_is_zero(rhythm):
    assert rhythm.pause_left_s(1000.0) == 0.0
    assert rhythm.longest_pause_s == 0.0


def test_without_batches_the_shortest_batch_is_infinite():
    assert Rhythm().shortest_batch_s == math.inf


@pytest.mark.parametrize(
    ("trigger_s", "duration_s", "next_commit_s"),
    [(3.0, 1.0, 1002.5), (3.0, 4.0, 1006.0), (0.0, 1.0, 1001.5)],
)
def test_the_next_commit_assumes_half_of_the_shortest_batch(trigger_s, duration_s, next_commit_s):
    rhythm = Rhythm(trigger_s=trigger_s)
    assert rhythm.next_commit_s is None
    assert rhythm.after(BatchTime(7, 1000.0, duration_s)).next_commit_s == next_commit_s


@pytest.mark.parametrize(
    ("start_s", "commit_s", "now", "left_s"),
    [
        (1002.0, 1003.5, 1003.6, 1.4),
        (1002.1, 1003.5, 1004.5, 0.5),
        (1002.0, 1005.7, 1005.8, 0.0),
        (1002.0, 1003.5, 1005.2, 0.0),
        (1002.0, 1003.5, 1006.5, 1.5),
        (1002.0, 1005.7, 1030.5, 1.5),
    ],
    ids=[
        "in time",
        "begun late",
        "too late: the next follows at once",
        "about to begin",
        "no new rows",
        "long without rows",
    ],
)
def test_a_pause_lasts_until_the_next_possible_batch(start_s, commit_s, now, left_s):
    rhythm = Rhythm(trigger_s=3.0).after(BatchTime(7, start_s, commit_s - start_s))
    assert rhythm.pause_left_s(now) == pytest.approx(left_s)


@given(st.floats(0.1, 60), st.floats(0, 1e6), st.floats(0, 200), st.floats(0, 500))
def test_a_pause_never_exceeds_the_trigger_interval(
    trigger_s: float, start_s: float, batch_s: float, later_s: float
) -> None:
    rhythm = Rhythm(trigger_s=trigger_s).after(BatchTime(1, start_s, batch_s))
    left_s = rhythm.pause_left_s(start_s + batch_s + later_s)
    assert 0 <= left_s <= trigger_s + 1e-6
