"""Contracts of the extension points, as named checks: what every policy, guard and journal keeps,
yours too.

Each check takes a function that makes a fresh object and raises AssertionError with one sentence if
a promise is broken::

    @pytest.mark.parametrize(("name", "check"), policy_checks())
    def test_my_policy(name, check):
        check(MyPolicy)
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar, cast

from rheostat.guards import Guard, guard
from rheostat.model import Decision, InFlight, Limits, Memory, Observation, Record, Rescaling
from rheostat.ports import Journal, Policy

_T = TypeVar("_T")
Checks: TypeAlias = list[tuple[str, Callable[[Callable[[], _T]], None]]]
SIGNALS = (
    "input_rows_per_s",
    "processed_rows_per_s",
    "output_rows_per_s",
    "lag_rows",
    "lag_s",
    "busy",
    "idle",
    "cpu",
    "backpressure_ms_per_s",
    "batch_s",
    "batch_rows",
    "trigger_s",
    "in_flight",
    "executors",
)


def minutes(count: int = 40, step_s: float = 5.0) -> list[Observation]:
    """Return observations of a job of three executors that is calm, then falls behind, then catches
    up, then has no load.
    """
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


def policy_checks() -> Checks[Policy]:
    """Return the checks of a policy, by name."""
    return [
        ("is deterministic", _is_deterministic),
        ("remembers in JSON", _remembers_in_json),
        ("changes no memory in place", _changes_no_memory),
        ("asks for a whole number and says why", _asks_for_a_whole_number),
        ("keeps the size when nothing is known", _keeps_the_size_when_blind),
        ("keeps the size when its signals go away", _keeps_the_size_when_going_blind),
        ("bears any absent signal", _bears_absent_signals),
        ("bears repeated ticks and a clock that is put back", _bears_odd_clocks),
        ("decides again after the clock was put back", _decides_after_clock_was_put_back),
        ("takes late and reordered samples as absent", _takes_late_samples_as_absent),
        ("bears zeros", _bears_zeros),
        ("keeps the size at its steady load", _keeps_the_size_at_its_steady_load),
        ("is monotone where it claims to be", _is_monotone_where_claimed),
    ]


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


def journal_checks() -> Checks[Journal]:
    """Return the checks of a journal, by name."""
    return [
        ("starts without memory", _starts_without_memory),
        ("keeps the last memory", _keeps_the_last_memory),
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


def _plain(memory: Memory) -> Any:
    return json.loads(json.dumps(memory, allow_nan=False))


def _is_deterministic(make: Callable[[], Policy]) -> None:
    assert follow(make(), minutes()) == follow(make(), minutes()), (
        "the same observations gave other decisions"
    )


def _remembers_in_json(make: Callable[[], Policy]) -> None:
    policy, memory = make(), {}  # type: tuple[Policy, Memory]
    for observation in minutes():
        as_it_was, as_restored = (
            policy.decide(observation, memory),
            make().decide(observation, _plain(memory)),
        )
        assert as_it_was[0] == as_restored[0], (
            f"at {observation.t_s} s the decision changed when the memory went through JSON"
        )
        memory = as_it_was[1]
        assert _plain(memory) == _plain(as_restored[1]), (
            f"at {observation.t_s} s the memory changed when it went through JSON"
        )


def _changes_no_memory(make: Callable[[], Policy]) -> None:
    policy, memory = make(), {}  # type: tuple[Policy, Memory]
    for observation in minutes():
        before = copy.deepcopy(memory)
        _, after = policy.decide(observation, memory)
        assert memory == before, f"at {observation.t_s} s the memory that was given was changed"
        memory = after


def _asks_for_a_whole_number(make: Callable[[], Policy]) -> None:
    for decision in follow(make(), minutes())[0]:
        assert type(decision.target) is int, f"the target {decision.target!r} is no int"
        assert decision.target >= 0, f"the target {decision.target} is below 0"
        assert decision.reason, "a decision has no reason"
        json.dumps(dict(decision.evidence), allow_nan=False)


def _keeps_the_size_when_blind(make: Callable[[], Policy]) -> None:
    blind = [Observation(t_s=5.0 * n, executors=4, target=4) for n in range(40)]
    assert {decision.target for decision in follow(make(), blind)[0]} == {4}, (
        "without any signal the size was changed"
    )
    decision, _ = make().decide(Observation(t_s=0.0), {})
    assert decision.target >= 1, (
        "an observation of nothing but its time asked for less than one executor"
    )


def _keeps_the_size_when_going_blind(make: Callable[[], Policy]) -> None:
    script = minutes()
    for seen in (len(script) // 4, len(script) // 2, len(script)):
        policy = make()
        _, memory = follow(policy, script[:seen])
        blind = [
            Observation(t_s=script[seen - 1].t_s + 5.0 * n, executors=3, target=3)
            for n in range(1, 40)
        ]
        assert {decision.target for decision in follow(policy, blind, memory)[0]} == {3}, (
            f"blind after {seen} ticks, the size was changed"
        )


def _bears_absent_signals(make: Callable[[], Policy]) -> None:
    for name in SIGNALS:
        policy, absent = make(), cast("dict[str, Any]", {name: None})
        follow(policy, [replace(observation, **absent) for observation in minutes()])
        _, memory = follow(policy, minutes(20))
        decision, _ = policy.decide(replace(minutes()[20], **absent), memory)
        assert decision.target >= 0, f"without {name} the target was {decision.target}"


def _bears_odd_clocks(make: Callable[[], Policy]) -> None:
    script = minutes()
    follow(make(), [observation for observation in script for _ in range(2)])
    follow(make(), script[::-1])


def _decides_after_clock_was_put_back(make: Callable[[], Policy]) -> None:
    fresh, policy = make(), make()
    day_s = 86_400.0
    _, memory = follow(
        policy, [replace(observation, t_s=observation.t_s + day_s) for observation in minutes()]
    )
    changes = [decision.target != 3 for decision in follow(fresh, minutes())[0]]
    again = [decision.target != 3 for decision in follow(policy, minutes(), memory)[0]]
    assert any(again) == any(changes), "a clock that was put back by a day stopped the decisions"


def _takes_late_samples_as_absent(make: Callable[[], Policy]) -> None:
    """Every sixth observation comes again, late and with other numbers: it keeps the size, and the
    others are decided as without it.
    """
    policy, memory, straight, script = (
        make(),
        {},
        follow(make(), minutes())[0],
        minutes(),
    )  # type: Policy, Memory, list[Decision], Any
    for n, observation in enumerate(script):
        decision, memory = policy.decide(observation, memory)
        assert decision == straight[n], (
            f"at {observation.t_s} s a late sample before it changed the decision"
        )
        if n % 6 == 5:
            late = replace(script[-n], t_s=observation.t_s - 12.0, executors=7, target=7)
            decision, memory = policy.decide(late, memory)
            assert decision.target == 7, (
                f"a sample of {late.t_s} s after one of {observation.t_s} s changed the size"
            )


def _bears_zeros(make: Callable[[], Policy]) -> None:
    nothing = Observation(
        t_s=0.0,
        executors=0,
        slots_per_executor=0,
        target=0,
        input_rows_per_s=0.0,
        processed_rows_per_s=0.0,
        lag_rows=0.0,
        lag_s=0.0,
        batch_s=0.0,
        batch_rows=0,
        trigger_s=0.0,
        in_flight=InFlight(elapsed_s=0.0),
    )
    follow(make(), [replace(nothing, t_s=5.0 * n) for n in range(40)])
    follow(make(), [replace(nothing, t_s=5.0 * n, executors=2, target=2) for n in range(40)])


def _keeps_the_size_at_its_steady_load(make: Callable[[], Policy]) -> None:
    """Ten minutes of the constant, well-sized load that the policy itself names in ``about``;
    nothing to check without one.
    """
    if (about := getattr(make(), "about", None)) is not None:
        decisions, _ = follow(make(), _constant(about.steady))
        changed = {decision.target for decision in decisions} - {about.steady.size}
        assert not changed, (
            f"at the steady load of {about.steady.size} executors it asked for {sorted(changed)}"
        )


def _is_monotone_where_claimed(make: Callable[[], Policy]) -> None:
    about = getattr(make(), "about", None)
    if about is not None and about.monotone:
        fewer = [0] * len(_constant(about.steady))
        for load in (0.25, 0.5, 0.9, 1.0, 1.1, 2.0, 4.0):
            more = [
                decision.target
                for decision in follow(make(), _constant(_at_load(about.steady, load)))[0]
            ]
            assert all(a <= b for a, b in zip(fewer, more, strict=True)), (
                f"{load} of its steady load asked for fewer executors than less"
            )
            fewer = more


def _constant(observation: Observation, step_s: float = 5.0) -> list[Observation]:
    return [replace(observation, t_s=step_s * n) for n in range(121)]


def _at_load(observation: Observation, load: float) -> Observation:
    """More arrivals, all else equal."""
    rate, inputs = observation.input_rows_per_s, observation.inputs
    more = {name: load * per_s for name, per_s in inputs.items()} if inputs is not None else None
    return replace(observation, input_rows_per_s=None if rate is None else load * rate, inputs=more)


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
    rule, memory, now = make(), {}, 0.0  # type: tuple[Guard, Memory, float]
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
    rule, memory = make(), {}  # type: tuple[Guard, Memory]
    for n, asked in enumerate((5, 2, 2, 8)):
        seen = Observation(t_s=5.0 * n, executors=3, target=3)
        live, restored = (
            rule(Decision(target=asked, reason=""), seen, kept, 5.0 * n)
            for kept in (memory, _plain(memory))
        )
        assert live == restored, "a guard decided otherwise when its memory went through JSON"
        memory = live[1]


def _guard_changes_no_memory(make: Callable[[], Guard]) -> None:
    rule, memory = make(), {}  # type: tuple[Guard, Memory]
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


def _record(t_s: float) -> Record:
    return Record(
        t_s=t_s,
        observation=None,
        queries=(),
        raw=None,
        guards=(),
        target=None,
        actions=(),
        rescaling=Rescaling(phase="idle"),
    )


def _starts_without_memory(make: Callable[[], Journal]) -> None:
    journal = make()
    assert journal.restore() == {}, "a new journal remembers something"
    assert not journal.halted(), "a new journal is halted"


def _keeps_the_last_memory(make: Callable[[], Journal]) -> None:
    journal = make()
    for n in range(3):
        journal.append(_record(float(n)), {"policy": {"n": n, "list": [1, 2.5, None]}})
    assert journal.restore() == {"policy": {"n": 2, "list": [1, 2.5, None]}}, (
        "the memory is not the one that was kept last"
    )
