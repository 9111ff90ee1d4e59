"""Each check of a contract detects the error that it is meant to detect."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from rheostat.guards import Bounds, Cooldown
from rheostat.journal.folder import MemoryJournal
from rheostat.model import Decision, Limits, Observation, hold
from rheostat.policies.parameters import About
from rheostat.testing.contracts import (
    check_bounds,
    follow,
    guard_checks,
    journal_checks,
    minutes,
    policy_checks,
)


class Hold:
    """Keeps the size: the smallest possible policy."""

    def decide(self, observation, memory):
        return hold(observation, "size kept"), {"calls": memory.get("calls", 0) + 1}


class Random(Hold):
    targets: Iterator[int] = iter(range(10**6))

    def decide(self, observation, memory):
        return Decision(target=next(self.targets), reason="a mood"), {}


class RemembersASet(Hold):
    def decide(self, observation, memory):
        return hold(observation, "why"), {"times": {observation.t_s}}


class RemembersByNumber(Hold):
    def decide(self, observation, memory):
        known = memory.get("by_size", {})
        return Decision(target=3 + (3 in known), reason="why"), {"by_size": {3: 1.0}}


class ChangesMemoryInPlace(Hold):
    def decide(self, observation, memory):
        kept: Any = memory or {"times": []}
        kept["times"].append(observation.t_s)
        return hold(observation, "why"), kept


class RequestsHalves(Hold):
    def decide(self, observation, memory):
        return Decision(target=1.5, reason="why"), {}  # type: ignore[arg-type]


class GivesNoReason(Hold):
    def decide(self, observation, memory):
        return hold(observation, ""), {}


class TakesAbsentForZero(Hold):
    def decide(self, observation, memory):
        return Decision(target=1 if not observation.lag_rows else 3, reason="no lag"), {}


class ActsOnOldNumbers(Hold):
    def decide(self, observation, memory):
        lag = observation.lag_rows if observation.lag_rows is not None else memory.get("lag")
        return Decision(target=3 if lag is None else 1, reason="why"), {"lag": lag}


class NeedsABatch(Hold):
    def decide(self, observation, memory):
        if observation.lag_rows is not None and observation.batch_s > 1e9:
            raise ValueError
        return hold(observation, "why"), {}


class NeedsAClock(Hold):
    def decide(self, observation, memory):
        if observation.t_s < memory.get("t_s", 0.0):
            raise ValueError("time goes back")
        return hold(observation, "why"), {"t_s": observation.t_s}


class KeepsAFutureDeadline(Hold):
    def decide(self, observation, memory):
        due = observation.t_s >= memory.get("due_s", 0.0) and observation.lag_s is not None
        target = 4 if due else observation.size or 1
        return Decision(target=target, reason="why"), {
            "due_s": observation.t_s + 60 if due else memory.get("due_s", 0.0)
        }


class DecidesOnLateSamples(Hold):
    def decide(self, observation, memory):
        return Decision(target=3, reason="3 is best"), {}


class LearnsFromLateSamples(Hold):
    def decide(self, observation, memory):
        reason = f"the last was {memory.get('t_s', observation.t_s):.0f}"
        return Decision(target=observation.size or 1, reason=reason), {"t_s": observation.t_s}


class DividesByExecutors(Hold):
    def decide(self, observation, memory):
        if observation.lag_rows is not None and observation.executors is not None:
            observation.lag_rows / observation.executors
        return hold(observation, "why"), {}


class Creeps(Hold):
    about = About(
        formula="+1 a minute",
        source="-",
        fails_when="always",
        steady=Observation(t_s=0.0, executors=4),
    )

    def decide(self, observation, memory):
        return (
            Decision(target=(observation.size or 1) + (observation.t_s > 500), reason="later"),
            {},
        )


class ShrinksUnderLoad(Hold):
    about = About(
        formula="-",
        source="-",
        fails_when="-",
        steady=Observation(t_s=0.0, executors=4, input_rows_per_s=10.0),
        monotone=True,
    )

    def decide(self, observation, memory):
        if observation.input_rows_per_s is None:
            return hold(observation, "why"), {}
        return Decision(target=4 - (observation.input_rows_per_s > 15), reason="why"), {}


class ShrinksForOneSource(ShrinksUnderLoad):
    about = dataclasses.replace(
        ShrinksUnderLoad.about, steady=Observation(t_s=0.0, executors=4, inputs={"bids": 10.0})
    )

    def decide(self, observation, memory):
        return (
            Decision(target=4 - ((observation.inputs or {}).get("bids", 0.0) > 15), reason="why"),
            {},
        )


POLICY, GUARD, JOURNAL = dict(policy_checks()), dict(guard_checks()), dict(journal_checks())
BROKEN: dict[str, list[type[Any]]] = {
    "is deterministic": [Random],
    "remembers in JSON": [RemembersASet, RemembersByNumber],
    "changes no memory in place": [ChangesMemoryInPlace],
    "requests an integer and gives a reason": [RequestsHalves, GivesNoReason],
    "keeps the size when nothing is known": [TakesAbsentForZero],
    "keeps the size when its signals go away": [ActsOnOldNumbers],
    "tolerates any absent signal": [NeedsABatch],
    "tolerates repeated ticks and a clock that is put back": [NeedsAClock],
    "decides again after the clock was put back": [KeepsAFutureDeadline],
    "treats late and reordered samples as absent": [DecidesOnLateSamples, LearnsFromLateSamples],
    "tolerates zeros": [DividesByExecutors],
    "keeps the size at its steady load": [Creeps],
    "is monotone where it claims to be": [ShrinksUnderLoad, ShrinksForOneSource],
}


@pytest.mark.parametrize("name", POLICY)
def test_the_minimal_policy_passes_every_check(name):
    POLICY[name](Hold)


@pytest.mark.parametrize(
    ("name", "policy"), [(name, policy) for name, policies in BROKEN.items() for policy in policies]
)
def test_a_broken_policy_is_detected(name, policy):
    with pytest.raises((AssertionError, TypeError, ValueError, ZeroDivisionError)):
        POLICY[name](policy)


def test_every_policy_check_has_a_broken_policy():
    assert set(BROKEN) == set(POLICY)


@dataclasses.dataclass
class Rule:
    name: str = "rule"
    memory: Any = dataclasses.field(default_factory=dict)

    def __call__(self, decision, observation, memory, now):
        return decision, self.memory


class Nameless(Rule):
    def __init__(self) -> None:
        super().__init__(name="")


class AddsOne(Rule):
    def __call__(self, decision, observation, memory, now):
        return dataclasses.replace(decision, target=decision.target + 1, reason="more"), {}


class KeepsTheReason(Rule):
    def __call__(self, decision, observation, memory, now):
        return dataclasses.replace(decision, target=observation.size or 1), {}


class ForgetsNumbers(Rule):
    def __call__(self, decision, observation, memory, now):
        return dataclasses.replace(decision, reason=str(3 in memory)), {3: 1}


class WritesInPlace(Rule):
    def __call__(self, decision, observation, memory, now):
        memory["now"] = now
        return decision, memory


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("has a name", Nameless),
        ("keeps an unchanged size", AddsOne),
        ("stays between the current and the decided size", AddsOne),
        ("gives a reason for a change", KeepsTheReason),
        ("remembers in JSON", ForgetsNumbers),
        ("changes no memory in place", WritesInPlace),
    ],
)
def test_a_broken_guard_is_detected(name, rule):
    with pytest.raises(AssertionError):
        GUARD[name](rule)


@pytest.mark.parametrize("name", GUARD)
def test_a_guard_without_effect_passes_every_check(name):
    GUARD[name](Rule)


class StartsHalted(MemoryJournal):
    def halted(self):
        return "from the start"


class Forgets(MemoryJournal):
    def append(self, record, memory):
        self.memory = self.memory or memory


def test_a_broken_journal_is_detected():
    with pytest.raises(AssertionError, match="halted"):
        JOURNAL["starts without memory"](StartsHalted)
    with pytest.raises(AssertionError, match="saved last"):
        JOURNAL["keeps the last memory"](Forgets)


def test_guards_without_bounds_are_detected():
    limits = Limits(max_executors=5)
    check_bounds((Cooldown(), Bounds(limits)), limits)
    with pytest.raises(AssertionError, match="came out as"):
        check_bounds((Cooldown(),), limits)


def test_the_script_is_on_time_then_late_then_idle():
    script = minutes()
    assert [script[n].input_rows_per_s for n in (0, 10, 20, 39)] == [900.0, 3300.0, 1500.0, 0.0]
    assert (
        max(observation.lag_s or 0.0 for observation in script[:10]) < 1 < (script[19].lag_s or 0.0)
    )
    assert [decision.target for decision in follow(Hold(), script)[0]] == [3] * 40
