"""If more executors do not help, ``predictive`` reports the bottleneck in the decision, and so in
``explain``.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from rheostat.journal.explanation import explain
from rheostat.model import Decision, InFlight, Memory, Observation, Record, Rescaling, Stage
from rheostat.policies.predictive.policy import Predictive

DRIVER = {"addBatch": 20.0, "queryPlanning": 30.0, "walCommit": 10.0}
SINK = {"addBatch": 59.8, "queryPlanning": 0.1, "walCommit": 0.1}


def last_decision(
    fixed_s: float, skew: float, tasks: int, parts_s: Mapping[str, float] | None = None
) -> Decision:
    """Return the decision for four executors whose batches are always late, at any size."""
    policy = Predictive(slo=10)
    memory: Memory = {}
    for n in range(30):
        rows = 20_000 + 1000 * (n % 5)
        busy_s = 0.01 * tasks + 1e-3 * rows
        batch_s = fixed_s + max(busy_s / min(4, tasks), skew * busy_s / tasks)
        decision, memory = policy.decide(
            Observation(
                t_s=10.0 * n,
                executors=4,
                target=4,
                slots_per_executor=1,
                input_rows_per_s=rows / 5,
                lag_rows=2.0 * rows,
                lag_s=10.0,
                latency_s=20.0,
                batch_s=batch_s,
                batch_rows=rows,
                batch_parts_s=parts_s,
                trigger_s=1.0,
                in_flight=InFlight(elapsed_s=1.0, rows=rows),
                stages=(
                    Stage(
                        name="0",
                        rows_in=float(rows),
                        busy_s=busy_s,
                        tasks=tasks,
                        task_max_s=skew * busy_s / tasks,
                    ),
                ),
            ),
            memory,
        )
    return decision


@pytest.mark.parametrize(
    ("kind", "job"),
    [
        ("fixed cost", {"fixed_s": 60.0, "skew": 1.0, "tasks": 24}),
        ("driver", {"fixed_s": 60.0, "skew": 1.0, "tasks": 24, "parts_s": DRIVER}),
        ("sink", {"fixed_s": 60.0, "skew": 1.0, "tasks": 24, "parts_s": SINK}),
        ("skew", {"fixed_s": 0.2, "skew": 12.0, "tasks": 24}),
        ("partitions", {"fixed_s": 0.2, "skew": 1.0, "tasks": 4}),
    ],
)
def test_the_bottleneck_is_named_and_the_size_is_kept(kind: str, job: dict[str, Any]) -> None:
    decision = last_decision(**job)
    assert decision.reason.startswith("more executors will not help, because")
    assert decision.evidence["binds"] == kind
    assert decision.target == 4


def test_explain_names_the_bottleneck() -> None:
    decision = last_decision(fixed_s=60.0, skew=1.0, tasks=24, parts_s=SINK)
    explanation = "\n".join(
        explain(
            Record(
                t_s=0.0,
                observation=None,
                queries=(),
                raw=decision,
                guards=(),
                target=4,
                actions=(),
                rescaling=Rescaling(phase="steady", detail=""),
            )
        )
    )
    assert "more executors will not help, because the fixed cost" in explanation
    assert "in the commit of the sink" in explanation
    assert "more executors would not help: sink" in explanation
