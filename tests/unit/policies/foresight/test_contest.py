"""While a simpler way decides, ``predictive`` is played in the model, and may win again."""

from dataclasses import replace
from typing import Any

from rheostat.model import Memory
from rheostat.policies.forecasts.predictive import Predictive

STEADY = replace(
    Predictive.about.steady, slots_per_executor=1, latency_s=1.0, executors=12, batch_s=0.2
)
POLICY = Predictive()


def looked(seconds: int, memory: Memory, since_s: int = 0) -> tuple[int, Memory]:
    """Return the size asked for at the last of the looks, and what is remembered then."""
    target = 0
    for t_s in range(since_s, since_s + seconds, 5):
        now = replace(STEADY, t_s=float(t_s), batch_rows=3000 + t_s % 7)
        decision, memory = POLICY.decide(now, memory)
        target = decision.target
    return target, memory


def with_contest(memory: Memory, **changed: Any) -> Memory:
    return {**memory, "contest": {**memory["contest"], "watched_s": 90_000.0, **changed}}


def test_predictive_is_played_with_the_size_that_it_would_have_asked_for() -> None:
    _, memory = looked(300, {})
    fixed = {"12": {**memory["contest"]["ours"], "size": 12, "cost": 1.0}}
    memory = with_contest(memory, decides="12", fixed=fixed)
    target, memory = looked(300, memory, 300)
    assert target == 12
    assert memory["contest"]["ours"]["size"] < 8


def test_predictive_gets_its_place_back_where_it_would_have_been_cheaper_by_a_tenth() -> None:
    _, memory = looked(300, {})
    for costs, back in ((1.05, False), (1.2, True)):
        ours = {**memory["contest"]["ours"], "cost": 1e6, "late": 0.0}
        dear = {**ours, "size": 12, "cost": costs * 1e6}
        given = with_contest(memory, decides="12", ours=ours, simple=dear, fixed={"12": dear})
        target, _ = looked(60, given, 300)
        assert (target < 12) == back
