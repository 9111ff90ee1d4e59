from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rheostat.cli.app import run as command
from rheostat.errors import BadInput
from rheostat.model import Observation, Slo
from rheostat.replay import recording
from rheostat.replay.validate import Moment
from rheostat.sim.fitting.batch_fit import Pace, fit, start_s
from rheostat.sim.fitting.calibration import calibrate, forced
from rheostat.sim.fitting.counterfactual import outcome
from rheostat.sim.fitting.recorded_run import Recorded, recorded

Journaled = Callable[..., Path]


@pytest.fixture(scope="module")
def run(journaled: Journaled) -> Recorded:
    return recorded(recording.read(journaled()))


def _moments(*observations: Observation) -> recording.Recording:
    return {
        None: [
            Moment(f"row {number}", observation)
            for number, observation in enumerate(observations, 1)
        ]
    }


def _plain(t_s: float, **more: object) -> Observation:
    given: dict[str, object] = {
        "executors": 2,
        "input_rows_per_s": 10.0,
        "lag_rows": 5.0,
        "batch_s": 1.0 + t_s / 100,
        "batch_rows": 10,
    }
    return Observation(t_s=t_s, **{**given, **more})  # type: ignore[arg-type]


def test_a_fit_recovers_the_batch_times_of_the_simulated_plant(run: Recorded) -> None:
    fitted = calibrate(run)
    assert fitted.held_out.batch_s_median < 0.08
    assert fitted.held_out.lag_of_peak < 0.2
    assert fitted.held_out.latency_s_median is not None
    assert fitted.held_out.latency_s_median < 0.15
    assert 3e-4 < fitted.parameters.source_row_s < 5.5e-4
    assert fitted.parameters.usl_sigma < 0.1
    assert len(fitted.sizes) > 2
    assert fitted.notes == ()


def test_noisy_batch_times_do_not_make_the_fitted_job_slower(run: Recorded) -> None:
    spread = tuple(
        replace(batch, batch_s=batch.batch_s * (1.3 if number % 2 else 0.7))
        for number, batch in enumerate(run.batches)
    )
    fitted = fit(run, spread)
    quiet_s, noisy_s = (
        outcome(forced(fitted, run, seed)[1], run, Slo()).latency_mean_s for seed in (None, 0)
    )
    assert noisy_s == pytest.approx(quiet_s, rel=0.05)


def test_the_fit_never_reads_the_held_out_part(run: Recorded) -> None:
    held = [batch for batch in run.batches if int(10 * batch.end_s / run.duration_s) in (3, 6, 9)]
    assert held
    other = replace(
        run,
        batches=tuple(
            replace(batch, batch_s=batch.batch_s * 7) if batch in held else batch
            for batch in run.batches
        ),
    )
    first, second = calibrate(run), calibrate(other)
    assert first.parameters == second.parameters
    assert first.pace == second.pace
    assert second.held_out.batch_s_median > first.held_out.batch_s_median


def test_an_accelerating_machine_is_detected(run: Recorded) -> None:
    slower = tuple(
        replace(batch, batch_s=batch.batch_s * (2 - batch.end_s / run.duration_s))
        for batch in run.batches
    )
    pace = calibrate(replace(run, batches=slower)).pace
    assert pace.factors[0] > 1.3
    assert pace.factors[-1] == 1


def test_executor_warm_up_is_detected(run: Recorded) -> None:
    truth = Pace(new=1.0, new_s=60.0)
    colder = tuple(
        replace(
            batch,
            batch_s=batch.batch_s * (1 + truth.new * truth.newness(batch.ages_s, batch.first)),
        )
        for batch in run.batches
    )
    fitted = calibrate(replace(run, batches=colder))
    assert fitted.pace.new > 0.4
    assert 25 < fitted.pace.new_s < 150
    assert fitted.held_out.batch_s_median < 0.1


def test_the_youngest_executors_are_removed_first() -> None:
    observations = [
        _plain(10.0 * i, executors=size)
        for i, size in enumerate((2, 2, 4, 4, 3, 1, 1, 2, 2, 2, 2, 2))
    ]
    batches = recorded(_moments(*observations)).batches
    by_end = {batch.end_s: batch for batch in batches}

    def born_s(end_s: float) -> list[float]:
        batch = by_end[end_s]
        return [(batch.begin_s + batch.end_s) / 2 - age_s for age_s in batch.ages_s]

    assert born_s(30.0) == pytest.approx([0, 0, 15, 15])
    assert born_s(40.0) == pytest.approx([0, 0, 15])
    assert born_s(60.0) == pytest.approx([0])
    assert born_s(90.0) == pytest.approx([0, 65])
    assert [by_end[end_s].first for end_s in (30.0, 40.0, 60.0, 90.0)] == [2, 2, 1, 1]


def test_a_single_recorded_size_is_reported_as_a_note(journaled: Journaled) -> None:
    fitted = calibrate(recorded(recording.read(journaled("fixed", executors=4))))
    assert fitted.sizes == (4,)
    assert fitted.parameters.usl_sigma == 0
    assert any("only one size was recorded (4 executors)" in note for note in fitted.notes)
    assert any("no start of an executor was observed" in note for note in fitted.notes)
    assert fitted.held_out.batch_s_median < 0.08


def test_the_start_time_spans_target_to_registration(run: Recorded) -> None:
    observations = (
        _plain(0, target=2),
        _plain(5, target=4),
        _plain(10, target=4, executors=3),
        _plain(15, target=4, executors=4),
    )
    assert start_s(replace(run, observations=observations)) == 10


def test_arrivals_apply_up_to_their_observation() -> None:
    observations = [
        _plain(100.0 + 10 * i, input_rows_per_s=float(i) if i != 3 else None) for i in range(12)
    ]
    arrivals = recorded(_moments(*observations)).arrivals()
    assert [arrivals.rate_per_s(t) for t in (0, 9, 10, 25)] == [1, 1, 2, 4]


@pytest.mark.parametrize(
    ("observations", "message"),
    [
        ([_plain(0)], "needs two rows or more"),
        (
            [_plain(float(t), batch_s=None) for t in range(20)],
            "the recording has no batch_s; a Spark plant is fitted to",
        ),
        ([_plain(float(t), lag_rows=None) for t in range(20)], "the recording has no lag_rows"),
        (
            [_plain(float(t), batch_s=1.0) for t in range(20)],
            "too few batches with rows: 0, and a fit needs 8",
        ),
        (
            [_plain(float(t)) for t in (*range(20), 500)],
            "row 21: a gap of 481 s without rows",
        ),
    ],
)
def test_a_recording_that_cannot_be_fitted_is_rejected_with_the_reason(
    observations: list[Observation], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        calibrate(recorded(_moments(*observations)))


def test_the_command_prints_and_writes_the_same_json(
    journaled: Journaled, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = journaled(seconds=900), tmp_path / "fit.json"
    assert command(["calibrate", str(folder), "--json", "--out", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads(out.read_text())
    assert set(result) == {"parameters", "pace", "held_out", "fitted", "sizes", "notes"}
    assert command(["calibrate", str(folder)]) == 0
    assert "batch time, median" in capsys.readouterr().out


def test_a_recording_without_batches_is_rejected_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(["calibrate", "query-1_HPA_50"]) == 2
    assert capsys.readouterr().err.startswith("rheostat: the recording has no batch_s")
