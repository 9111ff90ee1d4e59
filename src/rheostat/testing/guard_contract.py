"""The contract of every guard, one check per promise."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from rheostat.guards import Guard, guard
from rheostat.model import Decision, InFlight, Limits, Memory, Observation
from rheostat.ports import Policy

_T = TypeVar("_T")
Checks: TypeAlias = list[tuple[str, Callable[[Callable[[], _T]], None]]]


def minutes(count: int = 40, step_s: float = 5.0) -> list[Observation]:
    """Return observations of a job that is calm, falls behind, catches up, and idles."""
    return [_moment(n, count, n * step_s) for n in range(count)]


def follow(
    policy: Policy, script: Sequence[Observation], memory: Memory | None = None
) -> tuple[list[Decision], Memory]:
    """Return a policy's decisions on a script of observations, and its memory at the end."""
    decisions: list[Decision] = []
    kept: Memory = memory or {}
    for observation in script:
        decision, kept = policy.decide(observation, kept)
        decisions.append(decision)
    return decisions, kept


def _moment(n: int, count: int, t_s: float) -> Observation:
    is_behind = count // 4 <= n < count // 2
    if n < count // 4:  # calm
        rate, lag_s, rows = 900.0, 0.8, 900 + n
    elif is_behind:
        rate, lag_s, rows = 3300.0, 1.0 + 2.0 * (n - count // 4), 9000 + n
    elif n < 3 * count // 4:  # the lag falls
        rate, lag_s, rows = 1500.0, max(0.0, 20.0 - 4.0 * (n - count // 2)), 6000 + n
    else:  # idle
        rate, lag_s, rows = 0.0, 0.0, 0
    return Observation(
        t_s=t_s,
        application="app",
        query="q",
        executors=3,
        slots_per_executor=1,
        target=3,
        input_rows_per_s=rate,
        lag_s=lag_s,
        lag_rows=lag_s * rate,
        batch_s=rows / 3000 or 0.05,
        batch_rows=rows,
        processed_rows_per_s=3000.0 if rows else 0.0,
        output_rows_per_s=min(rate, 3000.0),
        busy=min(1.0, rows / 3000),
        idle=1 - min(1.0, rows / 3000),
        cpu=min(1.0, rows / 3000),
        backpressure_ms_per_s=500.0 if is_behind else 0.0,
        trigger_s=1.0,
        in_flight=InFlight(elapsed_s=0.2, rows=rows) if rows else None,
    )


def plain(memory: Memory) -> Any:
    """Return a memory after a round trip through JSON; raises ValueError for values JSON lacks."""
    return json.loads(json.dumps(memory, allow_nan=False))


def guard_checks() -> Checks[Guard]:
    """Return the checks of a guard, by name."""
    return [
        ("has a name", _has_a_name),
        ("keeps an unchanged size", _keeps_the_size),
        ("stays between the current and the decided size", _stays_between),
        ("gives a reason for a change", _gives_a_reason),
        ("remembers in JSON", _guard_remembers_in_json),
        ("changes no memory in place", _guard_changes_no_memory),
    ]


def check_bounds(guards: tuple[Guard, ...], limits: Limits) -> None:
    """Assert that guards keep every decision within the limits."""
    for target in (
        -5,
        0,
        1,
        limits.min_executors,
        limits.max_executors,
        limits.max_executors + 1,
        10**9,
    ):
        for size in (None, 0, 1, limits.max_executors, limits.max_executors + 5):
            observation = Observation(t_s=100.0, executors=size)
            for now in (100.0, 10_000.0):
                guarded = guard(
                    guards, Decision(target=target, reason="asked"), observation, {}, now
                ).decision.target
                assert limits.min_executors <= guarded <= limits.max_executors, (
                    f"{target} at {size} came out as {guarded}"
                )


def _has_a_name(make: Callable[[], Guard]) -> None:
    assert make().name, "a guard has no name"


def _keeps_the_size(make: Callable[[], Guard]) -> None:
    decision, _ = make()(
        Decision(target=3, reason="as it is"), Observation(t_s=0.0, executors=3, target=3), {}, 0.0
    )
    assert decision.target == 3, (
        f"a guard changed a size that no one requested to change to {decision.target}"
    )


def _guarded(make: Callable[[], Guard]) -> list[tuple[int, int, Decision]]:
    """Return (size, decided, guarded) for a series of ticks with one guard and its memory."""
    rule = make()
    memory: Memory = {}
    now = 0.0
    decisions: list[tuple[int, int, Decision]] = []
    for size, requested in [(3, 5), (5, 2), (5, 5), (5, 8), (3, 1), (1, 4)] * 4:
        now += 17.0
        decision, memory = rule(
            Decision(target=requested, reason="asked"),
            Observation(t_s=now - 1, executors=size, target=size),
            memory,
            now,
        )
        decisions.append((size, requested, decision))
    return decisions


def _stays_between(make: Callable[[], Guard]) -> None:
    for size, requested, decision in _guarded(make):
        assert min(size, requested) <= decision.target <= max(size, requested), (
            f"from {size}, asked {requested}, a guard made {decision.target}"
        )


def _gives_a_reason(make: Callable[[], Guard]) -> None:
    for size, requested, decision in _guarded(make):
        assert decision.target == requested or decision.reason != "asked", (
            f"a guard changed {requested} at {size} without a reason"
        )


def _guard_remembers_in_json(make: Callable[[], Guard]) -> None:
    rule = make()
    memory: Memory = {}
    for n, requested in enumerate((5, 2, 2, 8)):
        observation = Observation(t_s=5.0 * n, executors=3, target=3)
        live, restored = (
            rule(Decision(target=requested, reason=""), observation, kept, 5.0 * n)
            for kept in (memory, plain(memory))
        )
        assert live == restored, "a guard decided otherwise when its memory went through JSON"
        memory = live[1]


def _guard_changes_no_memory(make: Callable[[], Guard]) -> None:
    rule = make()
    memory: Memory = {}
    for n, requested in enumerate((5, 2, 2, 8)):
        before = copy.deepcopy(memory)
        _, after = rule(
            Decision(target=requested, reason=""),
            Observation(t_s=90.0 * n, executors=3, target=3),
            memory,
            90.0 * n,
        )
        assert memory == before, "a guard changed the memory that was given"
        memory = after
