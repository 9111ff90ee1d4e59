"""What every guard promises, one check a promise."""

from __future__ import annotations

import copy
from collections.abc import Callable

from rheostat.guards import Guard, guard
from rheostat.model import Decision, Limits, Memory, Observation
from rheostat.testing.observation_script import Checks, plain


def guard_checks() -> Checks[Guard]:
    """Return the checks of a guard, by name."""
    return [
        ("has a name", _has_a_name),
        ("lets the size stand", _lets_the_size_stand),
        ("never goes beyond what was asked or stands", _stays_between),
        ("gives a reason for a change", _gives_a_reason),
        ("remembers in JSON", _guard_remembers_in_json),
        ("changes no memory in place", _guard_changes_no_memory),
    ]


def check_bounds(guards: tuple[Guard, ...], limits: Limits) -> None:
    """Assert that no decision passes a row of guards beyond the limits, whatever was asked and
    whatever stands.
    """
    for asked in (
        -5,
        0,
        1,
        limits.min_executors,
        limits.max_executors,
        limits.max_executors + 1,
        10**9,
    ):
        for size in (None, 0, 1, limits.max_executors, limits.max_executors + 5):
            seen = Observation(t_s=100.0, executors=size)
            for now in (100.0, 10_000.0):
                target = guard(
                    guards, Decision(target=asked, reason="asked"), seen, {}, now
                ).decision.target
                assert limits.min_executors <= target <= limits.max_executors, (
                    f"{asked} at {size} came out as {target}"
                )


def _has_a_name(make: Callable[[], Guard]) -> None:
    assert make().name, "a guard has no name"


def _lets_the_size_stand(make: Callable[[], Guard]) -> None:
    decision, _ = make()(
        Decision(target=3, reason="as it is"), Observation(t_s=0.0, executors=3, target=3), {}, 0.0
    )
    assert decision.target == 3, (
        f"a guard changed a size that nobody wanted to change to {decision.target}"
    )


def _guarded(make: Callable[[], Guard]) -> list[tuple[int, int, Decision]]:
    """Return (size, asked, decision) for a row of ticks, one guard and one memory over all of
    them.
    """
    rule = make()
    memory: Memory = {}
    now = 0.0
    found: list[tuple[int, int, Decision]] = []
    for size, asked in [(3, 5), (5, 2), (5, 5), (5, 8), (3, 1), (1, 4)] * 4:
        now += 17.0
        decision, memory = rule(
            Decision(target=asked, reason="asked"),
            Observation(t_s=now - 1, executors=size, target=size),
            memory,
            now,
        )
        found.append((size, asked, decision))
    return found


def _stays_between(make: Callable[[], Guard]) -> None:
    for size, asked, decision in _guarded(make):
        assert min(size, asked) <= decision.target <= max(size, asked), (
            f"from {size}, asked {asked}, a guard made {decision.target}"
        )


def _gives_a_reason(make: Callable[[], Guard]) -> None:
    for size, asked, decision in _guarded(make):
        assert decision.target == asked or decision.reason != "asked", (
            f"a guard changed {asked} at {size} without a reason"
        )


def _guard_remembers_in_json(make: Callable[[], Guard]) -> None:
    rule = make()
    memory: Memory = {}
    for n, asked in enumerate((5, 2, 2, 8)):
        seen = Observation(t_s=5.0 * n, executors=3, target=3)
        live, restored = (
            rule(Decision(target=asked, reason=""), seen, kept, 5.0 * n)
            for kept in (memory, plain(memory))
        )
        assert live == restored, "a guard decided otherwise when its memory went through JSON"
        memory = live[1]


def _guard_changes_no_memory(make: Callable[[], Guard]) -> None:
    rule = make()
    memory: Memory = {}
    for n, asked in enumerate((5, 2, 2, 8)):
        before = copy.deepcopy(memory)
        _, after = rule(
            Decision(target=asked, reason=""),
            Observation(t_s=90.0 * n, executors=3, target=3),
            memory,
            90.0 * n,
        )
        assert memory == before, "a guard changed the memory that was given"
        memory = after
