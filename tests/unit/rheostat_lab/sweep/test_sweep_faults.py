"""Faults in a sweep: named in the specification, validated together, the same in runs of a seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rheostat.cli.app import run as command
from rheostat.errors import BadInput
from rheostat_lab.sweep.runner import here, rows, run_cell, sweep
from rheostat_lab.sweep.sweep_cell import Cell
from rheostat_lab.sweep.sweep_spec import read_spec
from rheostat_lab.sweep.sweep_summary import summary

SPEC = """
minutes: 10
interval_s: 30
slo: 30
limits: [1, 8]
seeds: 2
plants:
  small: {executors: 4, trigger_s: 10}
loads:
  wave: cosine:shift=11000,amplitude=3000,noise=200,period_s=900
policies: [fixed, spark-batch-ratio]
"""
FAULTS = """
faults:
  none: {}
  loss: {executor_loss: {mean_s: 60}}
  slow: {stragglers: {mean_s: 60, factor: 6}}
  blind: {late_metrics: {delay_s: 45}}
  gaps: {missing_metrics: {share: 0.9}}
  all: {missing_metrics: {share: 0.2}, executor_loss: {mean_s: 60}, stragglers: {mean_s: 60, factor: 6}, late_metrics: {delay_s: 10}}
"""  # noqa: E501


def _cells(folder: Path, text: str = SPEC + FAULTS) -> tuple[Cell, ...]:
    file = folder / "spec.yaml"
    file.write_text(text)
    return read_spec(file)


def test_every_set_of_faults_is_run_with_every_policy_and_seed(tmp_path: Path) -> None:
    cells = _cells(tmp_path)
    assert len(cells) == 2 * 6 * 2  # seeds x faults x policies
    assert len({cell.key for cell in cells}) == len(cells)
    assert all(Cell.of(cell.text) == cell for cell in cells)


def test_a_spec_without_faults_keeps_its_earlier_keys(tmp_path: Path) -> None:
    first = _cells(tmp_path, SPEC)[0]
    assert "faults" not in json.loads(first.text)
    assert {cell.faults for cell in _cells(tmp_path)} == {
        "none",
        "loss",
        "slow",
        "blind",
        "gaps",
        "all",
    }


def test_equal_cells_have_equal_rows_and_faults_do_not_change_the_load(tmp_path: Path) -> None:
    for cell in _cells(tmp_path):
        (row,) = run_cell(cell)
        assert [row] == run_cell(cell)
        assert row["faults"] == cell.faults
    assert len({cell.workload for cell in _cells(tmp_path) if cell.seed == 1}) == 1


def test_every_fault_has_its_effect(tmp_path: Path) -> None:
    results = {
        (cell.faults, cell.policy): run_cell(cell)[0] for cell in _cells(tmp_path) if cell.seed == 0
    }
    calm, policy = results["none", "fixed"], "spark-batch-ratio"
    assert results["loss", "fixed"]["executors_started"] > calm["executors_started"]
    assert results["loss", "fixed"]["accuracy_under"] > calm["accuracy_under"]
    assert results["slow", "fixed"]["latency_p99_s"] > calm["latency_p99_s"]
    assert results["none", policy]["rescalings"] > 0
    assert results["blind", policy]["rescalings"] == 0  # older than 30 s: the guard keeps the size
    assert (
        results["gaps", policy]["cost"] != results["none", policy]["cost"]
    )  # it decides at other times
    assert results["gaps", "fixed"]["cost"] == calm["cost"]
    assert results["blind", "fixed"] == {
        **calm,
        "key": results["blind", "fixed"]["key"],
        "faults": "blind",
    }


def test_an_empty_set_of_faults_has_no_effect(tmp_path: Path) -> None:
    (plain,) = run_cell(_cells(tmp_path, SPEC)[0])
    (named,) = run_cell(_cells(tmp_path)[0])
    assert named == {**plain, "key": named["key"], "faults": "none"}


def test_fault_times_do_not_depend_on_other_faults(tmp_path: Path) -> None:
    one = {"late": "late_metrics: {delay_s: 10}", "loss": "executor_loss: {mean_s: 60}"}
    sets = {
        "both": f"{one['late']}, {one['loss']}",
        "turned": f"{one['loss']}, {one['late']}",
        "alone": one["loss"],
    }
    text = (
        SPEC + "faults:\n" + "".join(f"  {name}: {{{faults}}}\n" for name, faults in sets.items())
    )
    results = [
        run_cell(cell)[0]
        for cell in _cells(tmp_path, text)
        if (cell.policy, cell.seed) == ("fixed", 0)
    ]
    assert len(results) == 3
    assert len({(row["executors_started"], row["latency_mean_s"]) for row in results}) == 1


def test_an_interrupted_sweep_continues_and_its_summary_separates_faults(
    tmp_path: Path,
) -> None:
    cells = _cells(tmp_path)
    sweep(cells[:5], tmp_path / "rows", here)
    sweep(cells, tmp_path / "rows", here, chunk=7)
    sweep(cells, tmp_path / "whole", here)
    assert rows(tmp_path / "rows") == rows(tmp_path / "whole")
    assert [
        (entry["faults"], entry["seeds"])
        for entry in summary(rows(tmp_path / "rows"))
        if entry["policy"] == "fixed"
    ] == [
        ("all", 2),
        ("blind", 2),
        ("gaps", 2),
        ("loss", 2),
        ("none", 2),
        ("slow", 2),
    ]


WRONG = """
faults:
  typo: {executor_los: {mean_s: 60}}
  bare: {executor_loss: }
  none given: {executor_loss: {}}
  fast: {executor_loss: {mean_s: 0}}
  mad: {stragglers: {mean_s: 60, factor: 0.5, speed: 3}}
  weak: {stragglers: {mean_s: 60, factor: 0.5}}
  text: {late_metrics: {delay_s: soon}}
  never: {late_metrics: {delay_s: 600}}
  much: {missing_metrics: {share: 30}}
  list: [executor_loss]
"""


def test_all_errors_in_faults_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        _cells(
            tmp_path,
            SPEC.replace("executors: 4", "executors: 40").lstrip("\n") + WRONG.lstrip("\n"),
        )
    lines = str(error.value).splitlines()
    assert lines[0] == "spec.yaml has 11 errors:"
    for line, part in (
        (7, "plants.small: starts with 40 executors"),
        (
            12,
            (
                "faults.typo.executor_los: is not a fault; there are executor_loss, stragglers,"
                " late_metrics, missing_metrics"
            ),
        ),
        (13, "faults.bare.executor_loss: is a mapping of its parameters mean_s, but it is None"),
        (14, "faults.none given.executor_loss: needs mean_s"),
        (
            15,
            (
                "faults.fast.executor_loss: mean_s, between two faults, must be at least 1 second,"
                " but it is 0"
            ),
        ),
        (16, "faults.mad.stragglers.speed: is not known here; there are mean_s, factor, lasting_s"),
        (
            17,
            (
                "faults.weak.stragglers: a straggler needs a factor of 1 or more and lasting_s"
                " above 0, but they are 0.5 and 60"
            ),
        ),
        (18, "faults.text.late_metrics.delay_s: must be a number, but it is 'soon'"),
        (
            19,
            (
                "faults.never.late_metrics.delay_s: must be below the 600 s of a run, or no signal"
                " is ever seen, but it is 600"
            ),
        ),
        (
            20,
            (
                "faults.much.missing_metrics: the share of missing metrics must be between 0 and 1,"
                " but it is 30"
            ),
        ),
        (21, "faults.list: is a mapping of one fault at least to its parameters"),
    ):
        assert any(reported.startswith(f"  line {line}, {part}") for reported in lines), part


def test_a_flink_plant_supports_late_metrics_but_no_executor_loss(tmp_path: Path) -> None:
    text = SPEC.replace(
        "small: {executors: 4, trigger_s: 10}", "job: {kind: flink, rate_per_s: 3000, executors: 4}"
    )
    with pytest.raises(
        BadInput,
        match=r"faults.loss.executor_loss: needs executors that can fail, .* but job is none",
    ):
        _cells(tmp_path, text + "faults: {loss: {executor_loss: {mean_s: 60}}}\n")
    cells = _cells(tmp_path, text + "faults: {late: {late_metrics: {delay_s: 15}}}\n")
    assert run_cell(cells[0])[0]["faults"] == "late"


@pytest.mark.parametrize("faults", ["faults:\n", "faults: [executor_loss]\n", "faults: {}\n"])
def test_empty_faults_are_rejected_at_one_place(
    tmp_path: Path, faults: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(SPEC + faults)
    assert command(["simulate", "sweep", str(file), "--master", "none"]) == 2
    assert (
        "faults: is a mapping with one entry at least, such as loss: {executor_loss: {mean_s:"
        " 1800}}" in capsys.readouterr().err
    )
