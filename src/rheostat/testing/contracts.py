"""Contracts of the extension points, as named checks for every policy, guard and journal, including
your own.

Each check takes a function that creates a fresh object, and raises AssertionError with one sentence
if the object breaks a promise::

    @pytest.mark.parametrize(("name", "check"), policy_checks())
    def test_my_policy(name, check):
        check(MyPolicy)
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from rheostat.model import InFlight, Memory, Observation, Record, Rescaling
from rheostat.ports import Journal, Policy
from rheostat.testing.guard_contract import (
    Checks,
    check_bounds,
    follow,
    guard_checks,
    minutes,
    plain,
)

__all__ = [
    "SIGNALS",
    "Checks",
    "check_bounds",
    "follow",
    "guard_checks",
    "journal_checks",
    "minutes",
    "policy_checks",
]


def journal_checks() -> Checks[Journal]:
    """Return the checks of a journal, by name."""
    return [
        ("starts without memory", _starts_without_memory),
        ("keeps the last memory", _keeps_the_last_memory),
    ]


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
        "the memory is not the one that was saved last"
    )


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


def policy_checks() -> Checks[Policy]:
    """Return the checks of a policy, by name."""
    return [
        ("is deterministic", _is_deterministic),
        ("remembers in JSON", _remembers_in_json),
        ("changes no memory in place", _changes_no_memory),
        ("requests an integer and gives a reason", _requests_an_integer),
        ("keeps the size when nothing is known", _keeps_the_size_when_blind),
        ("keeps the size when its signals go away", _keeps_the_size_when_going_blind),
        ("tolerates any absent signal", _tolerates_absent_signals),
        ("tolerates repeated ticks and a clock that is put back", _tolerates_odd_clocks),
        ("decides again after the clock was put back", _decides_after_clock_was_put_back),
        ("treats late and reordered samples as absent", _takes_late_samples_as_absent),
        ("tolerates zeros", _tolerates_zeros),
        ("keeps the size at its steady load", _keeps_the_size_at_its_steady_load),
        ("is monotone where it claims to be", _is_monotone_where_claimed),
    ]


def _is_deterministic(make: Callable[[], Policy]) -> None:
    assert follow(make(), minutes()) == follow(make(), minutes()), (
        "the same observations gave other decisions"
    )


def _remembers_in_json(make: Callable[[], Policy]) -> None:
    policy = make()
    memory: Memory = {}
    for observation in minutes():
        as_it_was, as_restored = (
            policy.decide(observation, memory),
            make().decide(observation, plain(memory)),
        )
        assert as_it_was[0] == as_restored[0], (
            f"at {observation.t_s} s the decision changed when the memory went through JSON"
        )
        memory = as_it_was[1]
        assert plain(memory) == plain(as_restored[1]), (
            f"at {observation.t_s} s the memory changed when it went through JSON"
        )


def _changes_no_memory(make: Callable[[], Policy]) -> None:
    policy = make()
    memory: Memory = {}
    for observation in minutes():
        before = copy.deepcopy(memory)
        _, after = policy.decide(observation, memory)
        assert memory == before, f"at {observation.t_s} s the memory that was given was changed"
        memory = after


def _requests_an_integer(make: Callable[[], Policy]) -> None:
    for decision in follow(make(), minutes())[0]:
        assert type(decision.target) is int, f"the target {decision.target!r} is not an int"
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
        "an observation with a time and no signals led to less than one executor"
    )


def _keeps_the_size_when_going_blind(make: Callable[[], Policy]) -> None:
    script = minutes()
    for known in (len(script) // 4, len(script) // 2, len(script)):
        policy = make()
        _, memory = follow(policy, script[:known])
        blind = [
            Observation(t_s=script[known - 1].t_s + 5.0 * n, executors=3, target=3)
            for n in range(1, 40)
        ]
        assert {decision.target for decision in follow(policy, blind, memory)[0]} == {3}, (
            f"blind after {known} ticks, the size was changed"
        )


def _tolerates_absent_signals(make: Callable[[], Policy]) -> None:
    for name in SIGNALS:
        policy, absent = make(), cast("dict[str, Any]", {name: None})
        follow(policy, [replace(observation, **absent) for observation in minutes()])
        _, memory = follow(policy, minutes(20))
        decision, _ = policy.decide(replace(minutes()[20], **absent), memory)
        assert decision.target >= 0, f"without {name} the target was {decision.target}"


def _tolerates_odd_clocks(make: Callable[[], Policy]) -> None:
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
    """Check that a late observation keeps the size and changes no later decision."""
    policy = make()
    memory: Memory = {}
    straight = follow(make(), minutes())[0]
    script = minutes()
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


def _tolerates_zeros(make: Callable[[], Policy]) -> None:
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
    """Check that ten minutes of the steady load in ``about``, if there is one, keep the size."""
    about = getattr(make(), "about", None)
    if about is not None:
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
    """Return the observation with ``load`` times the arrivals, all else equal."""
    rate, inputs = observation.input_rows_per_s, observation.inputs
    more = {name: load * per_s for name, per_s in inputs.items()} if inputs is not None else None
    return replace(observation, input_rows_per_s=None if rate is None else load * rate, inputs=more)
