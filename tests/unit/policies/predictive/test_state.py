"""The memory of ``predictive`` survives a journal, and its reasons state what was compared."""

import json
import re
from dataclasses import replace

from rheostat.model import Decision, Memory
from rheostat.policies.predictive.policy import Predictive
from rheostat.policies.predictive.state import VERSION, State

STEADY = replace(Predictive.about.steady, slots_per_executor=1, latency_s=1.0)


def decide_repeatedly(count: int, memory: Memory, first: int = 0) -> tuple[Decision, Memory]:
    policy = Predictive()
    for n in range(first, first + count):
        now = replace(STEADY, t_s=5.0 * n, batch_rows=3000 + n)
        decision, memory = policy.decide(now, memory)
    return decision, memory


def test_a_state_restored_from_json_decides_identically() -> None:
    _, memory = decide_repeatedly(30, {})
    restored = json.loads(json.dumps(memory))
    assert decide_repeatedly(1, restored, first=30)[0] == decide_repeatedly(1, memory, first=30)[0]


def test_memory_of_another_version_is_dropped_with_one_line() -> None:
    old = {"newest_s": 100.0, "tick_s": 60.0, "batches": {"unknown": 1}}
    decision, memory = Predictive().decide(replace(STEADY, t_s=105.0), old)
    assert decision.reason.startswith("the memory of another version was dropped; ")
    assert memory["version"] == VERSION
    again, _ = Predictive().decide(replace(STEADY, t_s=110.0), memory)
    assert "dropped" not in again.reason


def test_a_decision_states_the_compared_costs() -> None:
    decision, _ = decide_repeatedly(200, {})
    assert re.search(
        r"\d executors?: [\d,]+ slot-seconds, no late rows within \d+ s", decision.reason
    )
    horizon_s, slot_s = (decision.evidence[name] for name in ("horizon_s", "slot_s_chosen"))
    assert isinstance(horizon_s, float)
    assert slot_s == decision.target * horizon_s
    path = [point.split(":") for point in str(decision.evidence["forecast_path_p90"]).split()]
    assert [float(t_s) for t_s, _ in path][:3] == [0, 5, 15]


def test_a_state_contains_only_json_values() -> None:
    _, memory = decide_repeatedly(3, {})
    assert json.loads(json.dumps(memory, allow_nan=False)).keys() == State().to_json().keys()
