from __future__ import annotations

from dataclasses import replace

import pytest

from rheostat.cli.recordings.whatif import errors, show_answer, verdict
from rheostat.model import Slo
from rheostat.sim.fitting.calibration import Errors
from rheostat.sim.fitting.counterfactual import Answer, Deviation, Outcome

KEPT = Outcome(
    slot_hours=2.0,
    late_share=0.001,
    latency_mean_s=3.0,
    latency_p99_s=8.0,
    executors_mean=4.0,
    rescalings=2,
    lag_max_rows=100.0,
    attained=True,
    elasticity=None,
)
MISSED = replace(KEPT, late_share=0.0266, latency_p99_s=15.2, attained=False)
ERROR = Errors(
    batches=9,
    batch_s_median=0.1,
    batch_s_p90=0.2,
    lag_of_peak=0.1,
    lag_mean_of_peak=0.05,
    lag_peak_ratio=0.9,
    latency_s_median=0.1,
)


def answer(recorded: Outcome, ours: Outcome, late_off: float | None = 0.0) -> Answer:
    more = ours.slot_hours - recorded.slot_hours
    share = more / recorded.slot_hours
    return Answer(
        policy="hpa",
        slo=Slo(latency_s=10),
        duration_s=3600,
        recorded=recorded,
        simulated_as_recorded=recorded,
        simulated_with_policy=ours,
        deviation=Deviation(late_share=late_off, latency_mean=-0.1, latency_p99=-0.33),
        more_slot_hours=more,
        more_slot_hours_share=share,
        saved_share=-share if ours.attained else None,
        decisions=(),
        error=ERROR,
        notes=(),
    )


def test_a_saving_is_reported_if_the_objective_is_met() -> None:
    text = verdict(answer(KEPT, replace(KEPT, slot_hours=1.5)))
    assert text == (
        "hpa saves 25% of the recorded slot-hours (0.500) and keeps the objective (99 % of the rows"
        " within 10 s, 90 % in every five minutes)"
    )
    missed = verdict(answer(MISSED, replace(KEPT, slot_hours=1.5)))
    assert missed.endswith("; the recorded run missed it")


def test_a_policy_that_misses_the_objective_reports_no_saving() -> None:
    text = verdict(answer(KEPT, replace(MISSED, slot_hours=1.5)))
    assert text.startswith("hpa misses the objective (99 % of the rows within 10 s")
    assert text.endswith(
        "2.66% of the rows are late; it takes 25% fewer slot-hours than were recorded (0.500),"
        " which is no saving"
    )
    assert "saves" not in text
    dear = verdict(answer(KEPT, replace(MISSED, slot_hours=3.0)))
    assert dear.endswith("it takes 50% more slot-hours than were recorded (1.000)")


@pytest.mark.parametrize(("slot_hours", "expected"), [(2.0, "0% more"), (3.0, "50% more")])
def test_an_equal_or_higher_cost_is_not_a_saving(slot_hours: float, expected: str) -> None:
    text = verdict(answer(KEPT, replace(KEPT, slot_hours=slot_hours)))
    assert "keeps the objective" in text
    assert expected in text
    assert "saves" not in text


def test_an_optimistic_simulation_is_pointed_out() -> None:
    against, _, kind = errors(answer(MISSED, KEPT, late_off=-0.052))
    assert against == (
        "error, simulated as recorded against recorded: -5.20 points of late rows, latency -10% in"
        " the mean, -33% at 99 %"
    )
    assert "expect more late rows" in kind
    assert len(errors(answer(MISSED, KEPT, late_off=0.01))) == 2
    assert "points" not in errors(answer(MISSED, KEPT, late_off=None))[0]


def test_the_three_columns_are_labelled(capsys: pytest.CaptureFixture[str]) -> None:
    show_answer(answer(MISSED, KEPT))
    text = " ".join(capsys.readouterr().out.split())
    assert "recorded simulated as recorded simulated with hpa" in text
    assert "objective kept no no yes" in text
