from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rheostat.cli.app import run as command
from rheostat.errors import BadInput
from rheostat.model import Limits, Slo
from rheostat.replay import recording
from rheostat.sim.fitting.counterfactual import Question, whatif
from rheostat.sim.fitting.recorded_run import Recorded, recorded

Journaled = Callable[..., Path]


@pytest.fixture(scope="module")
def shadow(journaled: Journaled) -> Recorded:
    """A run with eight executors all the time, as a shadow run on a fixed cluster records it."""
    return recorded(recording.read(journaled("fixed", executors=8, seconds=900)))


def test_a_policy_saves_slot_hours_compared_with_a_fixed_size(shadow: Recorded) -> None:
    result = whatif(
        shadow,
        Question(policy="measured-throughput", limits=Limits.between(1, 8), slo=Slo(latency_s=30)),
    )
    assert result.recorded.slot_hours == pytest.approx(8 * shadow.duration_s / 3600)
    assert result.simulated_as_recorded.slot_hours == pytest.approx(
        result.recorded.slot_hours, rel=0.01
    )
    assert result.simulated_with_policy.slot_hours < result.simulated_as_recorded.slot_hours
    assert result.saved_share == pytest.approx(
        1 - result.simulated_with_policy.slot_hours / result.simulated_as_recorded.slot_hours
    )
    assert result.simulated_with_policy.late_share is not None
    assert result.decisions[0].before == 8
    assert all(decision.reason for decision in result.decisions)
    assert result.error.batch_s_median < 0.1


def test_a_policy_reduces_over_provisioning_of_a_fixed_size(
    shadow: Recorded,
) -> None:
    result = whatif(
        shadow,
        Question(policy="measured-throughput", limits=Limits.between(1, 8), slo=Slo(latency_s=30)),
    )
    recorded_, ours = (
        result.simulated_as_recorded.elasticity,
        result.simulated_with_policy.elasticity,
    )
    assert recorded_ is not None
    assert ours is not None
    assert recorded_.timeshare_under == 0.0
    assert recorded_.accuracy_over > ours.accuracy_over >= 0.0


def test_a_single_executor_is_under_provisioned_while_rows_are_late(shadow: Recorded) -> None:
    result = whatif(
        shadow,
        Question(
            policy="fixed",
            parameters={"executors": "1"},
            limits=Limits.between(1, 8),
            slo=Slo(latency_s=30),
        ),
    )
    elasticity = result.simulated_with_policy.elasticity
    assert elasticity is not None
    assert elasticity.timeshare_under + elasticity.timeshare_over <= 100.0
    assert (elasticity.timeshare_under > 0) == (not result.simulated_with_policy.attained)


def test_the_recorded_size_reproduces_the_recorded_run(shadow: Recorded) -> None:
    result = whatif(shadow, Question(policy="fixed", limits=Limits.between(1, 8)))
    assert result.decisions == ()
    assert result.saved_share == pytest.approx(0, abs=0.01)
    assert result.more_slot_hours == pytest.approx(0, abs=0.01)
    assert result.simulated_with_policy.latency_mean_s == pytest.approx(
        result.simulated_as_recorded.latency_mean_s, rel=0.05
    )


def test_extrapolated_sizes_are_noted(shadow: Recorded) -> None:
    result = whatif(
        shadow,
        Question(policy="fixed", parameters={"executors": "12"}, limits=Limits.between(1, 16)),
    )
    assert result.notes[-1] == "sizes 12 were never recorded: what they do is extrapolated"


def test_the_same_question_has_the_same_result(shadow: Recorded) -> None:
    question = Question(policy="spark-batch-ratio", seed=3)
    assert whatif(shadow, question) == whatif(shadow, question)


def test_an_unknown_policy_is_rejected_before_the_fit(shadow: Recorded) -> None:
    with pytest.raises(BadInput, match="unknown policy 'clever'"):
        whatif(shadow, Question(policy="clever"))


def test_the_command_prints_and_writes_the_same_json(
    journaled: Journaled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = str(journaled(seconds=900)), tmp_path / "answer.json"
    assert command(["whatif", folder, "--policy", "threshold", "--json", "--out", str(out)]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == json.loads(out.read_text())
    assert {
        "simulated_as_recorded",
        "simulated_with_policy",
        "saved_share",
        "decisions",
        "error",
        "notes",
    } <= set(answer)
    assert command(["whatif", folder, "--max", "4"]) == 0
    output = capsys.readouterr().out
    assert "slot-hours" in output
    assert "error where the plant was not fitted" in output
    assert command(["whatif", folder, "--policy", "hpa", "--set", "nothing=1"]) == 2
    assert command(["whatif", folder, "--min", "5", "--max", "2"]) == 2
