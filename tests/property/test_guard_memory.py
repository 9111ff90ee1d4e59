"""Guards remember only executed changes, not requested or rejected ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.guards import (
    Budget,
    Cooldown,
    Guard,
    Guarded,
    OverProvisioning,
    Stabilization,
    StaleData,
    StepLimits,
    Undo,
    guard,
    standard_guards,
)
from rheostat.model import Decision, Limits, Memory, Observation

TICK_S = 5.0
OUT_S, IN_S = 10.0, 60.0
CEILING = 8

requests = st.lists(st.integers(1, 40), min_size=3, max_size=40)
options = st.fixed_dictionaries(
    {},
    optional={
        "over_provisioning": st.just(OverProvisioning(0.2)),
        "stabilization": st.just(Stabilization(out_s=10.0, in_s=30.0)),
        "undo": st.just(Undo(after_s=15.0, window_s=10.0, hold_s=30.0)),
        "step_limits": st.just(StepLimits(2, 1)),
        "budget": st.floats(10.0, 200.0).map(lambda hours: Budget(slot_hours=hours)),
    },
)


def guards(given: dict[str, Any]) -> tuple[Guard, ...]:
    return standard_guards(
        Limits(max_executors=CEILING), Cooldown(OUT_S, IN_S), StaleData(30.0), **given
    )


def ticks(
    rules: tuple[Guard, ...], requested: Sequence[int], executed: Sequence[bool]
) -> Iterator[tuple[int, Guarded]]:
    """Yield the size before each tick and its outcome; an executed target becomes the size."""
    size: int = 3
    memory: Mapping[str, Memory] = {}
    for tick, target in enumerate(requested):
        now = TICK_S * tick
        observation = Observation(
            t_s=now,
            executors=size,
            target=size,
            slots_per_executor=1,
            processed_rows_per_s=100.0,
            lag_s=60.0,
        )
        guarded = guard(rules, Decision(target=target, reason="asked"), observation, memory, now)
        yield size, guarded
        memory = guarded.memory
        if executed[tick % len(executed)]:
            size = guarded.decision.target


@settings(max_examples=150, deadline=None)
@given(requested=requests, given=options)
def test_a_request_above_the_ceiling_leaves_no_trace_in_memory(requested, given):
    rules = guards(given)
    clamped = [min(target, CEILING) for target in requested]
    first, second = (
        [guarded.decision.target for _, guarded in ticks(rules, row, [True])]
        for row in (requested, clamped)
    )
    assert first == second


@settings(max_examples=150, deadline=None)
@given(
    requested=requests,
    executed=st.lists(st.booleans(), min_size=1, max_size=7),
    given=options,
)
def test_cooldown_applies_only_after_an_executed_change(requested, executed, given):
    changed_tick, before = None, 3
    for tick, (size, guarded) in enumerate(ticks(guards(given), requested, executed)):
        if size != before:
            changed_tick, before = tick - 1, size
        held = [change for change in guarded.changes if change.guard == "cooldown"]
        for change in held:
            assert changed_tick is not None
            wait_s = OUT_S if change.before > size else IN_S
            assert (tick - changed_tick) * TICK_S < wait_s
        if changed_tick is not None and (tick - changed_tick) * TICK_S < OUT_S:
            assert guarded.decision.target == size


@settings(max_examples=50, deadline=None)
@given(target=st.integers(1, 40), given=options)
def test_in_shadow_mode_equal_requests_get_equal_advice(target, given):
    given.pop("stabilization", None)  # its window fills, so the advice changes once
    given.pop("budget", None)  # the remaining budget shrinks with time
    rules = guards(given)
    outcomes = [guarded.decision for _, guarded in ticks(rules, [target] * 20, [False])]
    assert len({(decision.target, decision.reason) for decision in outcomes}) == 1
