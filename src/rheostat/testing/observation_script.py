"""A script of observations for tests, and what a policy says on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from rheostat.model import Decision, InFlight, Memory, Observation
from rheostat.ports import Policy

_T = TypeVar("_T")
Checks: TypeAlias = list[tuple[str, Callable[[Callable[[], _T]], None]]]


def minutes(count: int = 40, step_s: float = 5.0) -> list[Observation]:
    """Return observations of a job that is calm, falls behind, catches up, and idles."""
    return [_moment(n, count, n * step_s) for n in range(count)]


def follow(
    policy: Policy, script: Sequence[Observation], memory: Memory | None = None
) -> tuple[list[Decision], Memory]:
    """Return a policy's decisions on a script of observations, and what it remembers in the end."""
    decisions: list[Decision] = []
    kept: Memory = memory or {}
    for observation in script:
        decision, kept = policy.decide(observation, kept)
        decisions.append(decision)
    return decisions, kept


def _moment(n: int, count: int, t_s: float) -> Observation:
    calm, behind, late = (
        n < count // 4,
        count // 4 <= n < count // 2,
        count // 2 <= n < 3 * count // 4,
    )
    rate = 900.0 if calm else 3300.0 if behind else 1500.0 if late else 0.0
    lag_s = (
        0.8
        if calm
        else (
            1.0 + 2.0 * (n - count // 4)
            if behind
            else max(0.0, 20.0 - 4.0 * (n - count // 2))
            if late
            else 0.0
        )
    )
    rows = 900 + n if calm else 9000 + n if behind else 6000 + n if late else 0
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
        backpressure_ms_per_s=500.0 if behind else 0.0,
        trigger_s=1.0,
        in_flight=InFlight(elapsed_s=0.2, rows=rows) if rows else None,
    )


def plain(memory: Memory) -> Any:
    """Return a memory as it comes back from JSON; raises ValueError for what JSON has not."""
    return json.loads(json.dumps(memory, allow_nan=False))
