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


def test_on_a_run_at_a_fixed_size_it_is_a_savings_report(shadow: Recorded) -> None:
    found = whatif(
        shadow,
        Question(policy="measured-throughput", limits=Limits.between(1, 8), slo=Slo(latency_s=30)),
    )
    assert found.recorded.slot_hours == pytest.approx(8 * shadow.duration_s / 3600)
    assert found.simulated_as_recorded.slot_hours == pytest.approx(
        found.recorded.slot_hours, rel=0.01
    )
    assert found.simulated_with_policy.slot_hours < found.simulated_as_recorded.slot_hours
    assert found.saved_share == pytest.approx(
        1 - found.simulated_with_policy.slot_hours / found.simulated_as_recorded.slot_hours
    )
    assert found.simulated_with_policy.late_share is not None
    assert found.decisions[0].before == 8
    assert all(each.reason for each in found.decisions)
    assert found.error.batch_s_median < 0.1


def test_a_run_at_a_fixed_size_has_executors_too_many_and_a_policy_has_fewer(
    shadow: Recorded,
) -> None:
    found = whatif(
        shadow,
        Question(policy="measured-throughput", limits=Limits.between(1, 8), slo=Slo(latency_s=30)),
    )
    recorded_, ours = found.simulated_as_recorded.elasticity, found.simulated_with_policy.elasticity
    assert recorded_ is not None
    assert ours is not None
    assert recorded_.timeshare_under == 0.0
    assert recorded_.accuracy_over > ours.accuracy_over >= 0.0


def test_one_executor_is_missing_others_as_long_as_it_is_late(shadow: Recorded) -> None:
    found = whatif(
        shadow,
        Question(
            policy="fixed",
            parameters={"executors": "1"},
            limits=Limits.between(1, 8),
            slo=Slo(latency_s=30),
        ),
    )
    told = found.simulated_with_policy.elasticity
    assert told is not None
    assert told.timeshare_under + told.timeshare_over <= 100.0
    assert (told.timeshare_under > 0) == (not found.simulated_with_policy.attained)


def test_asking_for_the_recorded_size_gives_the_recorded_run(shadow: Recorded) -> None:
    found = whatif(shadow, Question(policy="fixed", limits=Limits.between(1, 8)))
    assert found.decisions == ()
    assert found.saved_share == pytest.approx(0, abs=0.01)
    assert found.more_slot_hours == pytest.approx(0, abs=0.01)
    assert found.simulated_with_policy.latency_mean_s == pytest.approx(
        found.simulated_as_recorded.latency_mean_s, rel=0.05
    )


def test_sizes_beyond_the_recorded_ones_are_said(shadow: Recorded) -> None:
    found = whatif(
        shadow,
        Question(policy="fixed", parameters={"executors": "12"}, limits=Limits.between(1, 16)),
    )
    assert found.notes[-1] == "sizes 12 were never recorded: what they do is extrapolated"


def test_the_same_question_has_the_same_answer(shadow: Recorded) -> None:
    question = Question(policy="spark-batch-ratio", seed=3)
    assert whatif(shadow, question) == whatif(shadow, question)


def test_a_wrong_policy_is_refused_before_the_fit(shadow: Recorded) -> None:
    with pytest.raises(BadInput, match="unknown policy 'clever'"):
        whatif(shadow, Question(policy="clever"))


def test_the_command_prints_and_writes_the_same_json(
    journaled: Journaled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = str(journaled(seconds=900)), tmp_path / "answer.json"
    assert command(["whatif", folder, "--policy", "threshold", "--json", "--out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads(out.read_text())
    assert {
        "simulated_as_recorded",
        "simulated_with_policy",
        "saved_share",
        "decisions",
        "error",
        "notes",
    } <= set(told)
    assert command(["whatif", folder, "--max", "4"]) == 0
    said = capsys.readouterr().out
    assert "slot-hours" in said
    assert "error where the plant was not fitted" in said
    assert command(["whatif", folder, "--policy", "hpa", "--set", "nothing=1"]) == 2
    assert command(["whatif", folder, "--min", "5", "--max", "2"]) == 2
