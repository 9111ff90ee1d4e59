# mypy: disallow-untyped-calls=False
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rheostat.control.external_size_policy import FlapGuard
from rheostat.model import Decision, Observation


def played(sizes, every_s=1.0, rule=None):
    """Return the effective size tick by tick for these requested sizes."""
    rule, size = rule or FlapGuard(), 5
    memory: Any = {}
    found: list[Any] = []
    for tick, asked in enumerate(sizes):
        seen = Observation(t_s=tick * every_s, executors=size, target=size)
        decision = Decision(target=asked, reason="asked")
        decision, memory = rule(decision, seen, memory, tick * every_s)
        size = decision.target
        found.append((tick * every_s, size, decision.reason))
    return found


def changes(found):
    sizes = [5, *(size for _, size, _ in found)]
    return [at_s for (at_s, size, _), before in zip(found, sizes, strict=False) if size != before]


def test_two_who_write_in_turn_change_the_size_seven_times_a_minute_at_most_and_the_larger_holds():
    found = played([3, 5] * 150)
    at_s = changes(found)
    assert max(sum(begin <= each < begin + 60 for each in at_s) for begin in range(240)) <= 7
    assert sum(size == 5 for _, size, _ in found) > 0.9 * len(found)
    assert "the size went down and up again 3 times within 60 s" in found[20][2]


@given(st.lists(st.integers(1, 8), max_size=200), st.sampled_from([0.2, 1.0, 3.0]))
def test_whatever_is_written_growth_is_never_held_and_turns_are_few(sizes, every_s):
    found = played(sizes, every_s)
    before, shrank, turns = 5, False, []
    for asked, (at_s, size, _) in zip(sizes, found, strict=True):
        assert size >= asked
        if size > before and shrank:
            turns.append(at_s)
        shrank = size < before if size != before else shrank
        before = size
    # A fourth one is possible only a minute after the first, which is observed a tick later.
    for first, fourth in zip(turns, turns[3:], strict=False):
        assert fourth - first >= 60.0


def test_a_day_that_falls_in_steps_is_not_held():
    assert [size for _, size, _ in played([8, 7, 6, 5, 4, 3, 2, 1])] == [8, 7, 6, 5, 4, 3, 2, 1]


def test_the_smaller_size_holds_a_minute_after_the_other_writer_is_gone():
    found = played([3, 5, 3, 5, 3, 5] + [3] * 70)
    assert (found[10][1], found[-1][1]) == (5, 3)


def test_a_clock_that_is_put_back_holds_for_no_longer():
    rule, memory = FlapGuard(), {"size": 5, "shrank": False, "turns": [1e9] * 3}
    seen = Observation(t_s=0, executors=5, target=5)
    decision, _ = rule(Decision(target=3, reason="asked"), seen, memory, 0.0)
    assert decision.target == 3
