"""At a constant low load ``predictive`` does not alternate between two sizes.

The recordings are of simulated jobs like the one that flapped (``foreachBatch`` into a database,
heavy batches, 7 and 20 rows/s, up to 16 executors), sized by the policy before its correction:
within minutes it scaled in to one executor and out to eight again.
"""

from pathlib import Path

import pytest

from rheostat.journal.record import from_line
from rheostat.model import Decision, Memory, Record
from rheostat.policies.predictive.policy import Predictive

RECORDINGS = Path(__file__).parent / "recordings"


def replayed(name: str) -> list[tuple[Record, Decision]]:
    """Return each record of a recording with the policy's decision on its observation."""
    memory: Memory = {}
    outcomes = []
    for line in (RECORDINGS / f"{name}.jsonl").read_text("utf-8").splitlines():
        record = from_line(line)
        assert record.observation is not None
        decision, memory = Predictive(slo=10).decide(record.observation, memory)
        outcomes.append((record, decision))
    return outcomes


@pytest.mark.parametrize("name", ["fixed_cost_three_seconds", "sixteen_writers"])
def test_a_reversed_scale_in_is_not_repeated(name: str) -> None:
    outcomes = replayed(name)
    assert any((record.target or 16) == 1 for record, _ in outcomes)
    smallest = min(decision.target for record, decision in outcomes if record.observation.size > 1)  # type: ignore[union-attr,operator]
    assert smallest >= 4


def test_noise_at_one_executor_does_not_request_eight() -> None:
    record, decision = replayed("fixed_cost_three_seconds")[-1]
    assert record.target == 8
    assert decision.target == 1
