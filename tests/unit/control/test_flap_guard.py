# mypy: disallow-untyped-calls=False
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rheostat.control.external_size_policy import FlapGuard
from rheostat.model import Decision, Observation


def replay_sizes(sizes, every_s=1.0, rule=None):
    """Return the effective size tick by tick for these requested sizes."""
    rule, size = rule or FlapGuard(), 5
    memory: Any = {}
    ticks: list[Any] = []
    for tick, requested in enumerate(sizes):
        observation = Observation(t_s=tick * every_s, executors=size, target=size)
        decision = Decision(target=requested, reason="asked")
        decision, memory = rule(decision, observation, memory, tick * every_s)
        size = decision.target
        ticks.append((tick * every_s, size, decision.reason))
    return ticks


def changes(ticks):
    sizes = [5, *(size for _, size, _ in ticks)]
    return [
        change_times
        for (change_times, size, _), before in zip(ticks, sizes, strict=False)
        if size != before
    ]


def test_alternating_writers_change_the_size_at_most_seven_times_a_minute():
    ticks = replay_sizes([3, 5] * 150)
    change_times = changes(ticks)
    assert (
        max(
            sum(begin <= change_s < begin + 60 for change_s in change_times) for begin in range(240)
        )
        <= 7
    )
    assert sum(size == 5 for _, size, _ in ticks) > 0.9 * len(ticks)
    assert "the size went down and up again 3 times within 60 s" in ticks[20][2]


@given(st.lists(st.integers(1, 8), max_size=200), st.sampled_from([0.2, 1.0, 3.0]))
def test_increases_are_never_held_and_reversals_are_rare(sizes, every_s):
    ticks = replay_sizes(sizes, every_s)
    before, shrank, reversals = 5, False, []
    for requested, (change_times, size, _) in zip(sizes, ticks, strict=True):
        assert size >= requested
        if size > before and shrank:
            reversals.append(change_times)
        shrank = size < before if size != before else shrank
        before = size
    # A fourth one is possible only a minute after the first, which is observed a tick later.
    for first, fourth in zip(reversals, reversals[3:], strict=False):
        assert fourth - first >= 60.0


def test_a_stepwise_decrease_is_not_held():
    assert [size for _, size, _ in replay_sizes([8, 7, 6, 5, 4, 3, 2, 1])] == [
        8,
        7,
        6,
        5,
        4,
        3,
        2,
        1,
    ]


def test_the_smaller_size_applies_a_minute_after_the_other_writer_stops():
    ticks = replay_sizes([3, 5, 3, 5, 3, 5] + [3] * 70)
    assert (ticks[10][1], ticks[-1][1]) == (5, 3)


def test_a_clock_set_back_does_not_extend_the_hold():
    rule, memory = FlapGuard(), {"size": 5, "shrank": False, "turns": [1e9] * 3}
    observation = Observation(t_s=0, executors=5, target=5)
    decision, _ = rule(Decision(target=3, reason="asked"), observation, memory, 0.0)
    assert decision.target == 3
