"""``rheostat lab run`` where the days are there already: nothing is played, all is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.main import get_command

from rheostat.cli.app import application, run
from rheostat.errors import BadInput
from rheostat_lab.live.day_process import command
from rheostat_lab.live.played_day import read_day
from rheostat_lab.live.policies_spec import Cell, PoliciesSpec

SPEC = "experiment: policies\nqueries: [q1]\npolicies: [fixed, hpa]\nseeds: [3]\nseconds: 60\n"
SUMMARY = {
    "exact": True,
    "objective_met": True,
    "share_within_slo": 1.0,
    "latency_p99_s": 4.0,
    "slo_s": 10.0,
    "slot_hours": 0.1,
    "rescalings": 2,
    "failed_tasks": 0,
}


def a_day(folder: Path, **changed: object) -> Path:
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps({**SUMMARY, **changed}))
    return folder


def test_days_that_are_there_are_told_and_not_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "short.yaml"
    spec.write_text(SPEC)
    a_day(tmp_path / "out" / "short" / "q1-fixed-3")
    a_day(tmp_path / "out" / "short" / "q1-hpa-3", objective_met=False)
    assert run(["lab", "run", str(spec), "--out", str(tmp_path / "out"), "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert [(row["policy"], row["attained"]) for row in told["rows"]] == [
        ("fixed", True),
        ("hpa", False),
    ]
    assert "It lacks nothing on these days." in told["told"]
    assert told == json.loads((tmp_path / "out" / "short.json").read_text())


def test_days_of_another_length_or_load_are_not_mixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, out = tmp_path / "short.yaml", tmp_path / "out"
    spec.write_text(SPEC)
    for policy in ("fixed", "hpa"):
        a_day(out / "short" / f"q1-{policy}-3")
    assert run(["lab", "run", str(spec), "--out", str(out)]) == 0
    spec.write_text(SPEC.replace("60", "90") + "peak: 900\n")
    capsys.readouterr()
    assert run(["lab", "run", str(spec), "--out", str(out)]) == 2
    told = capsys.readouterr().err
    assert "has days of seconds 60, not 90, peak None, not 900; name another --out" in told


def test_a_folder_of_somebody_else_is_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, folder = tmp_path / "short.yaml", tmp_path / "out" / "short" / "q1-hpa-3"
    spec.write_text(SPEC)
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("mine")
    assert run(["lab", "run", str(spec), "--out", str(tmp_path / "out")]) == 2
    assert "thesis.tex" in capsys.readouterr().err
    assert not list((tmp_path / "out" / "short").glob("*.log"))


def test_a_summary_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = a_day(tmp_path / "q1-hpa-3")
    (folder / "summary.json").write_text("{")
    with pytest.raises(BadInput, match=r"summary\.json is no summary of a demo"):
        read_day(folder, Cell("q1", "hpa", 3))


def test_a_day_whose_executors_nobody_told_is_not_the_cheapest(tmp_path: Path) -> None:
    folder = a_day(tmp_path / "q1-hpa-3", slot_hours=0.0)
    with pytest.raises(BadInput, match="has no slot-hours"):
        read_day(folder, Cell("q1", "hpa", 3))


def test_the_command_of_a_day_is_one_that_the_command_line_takes(tmp_path: Path) -> None:
    spec = PoliciesSpec(
        experiment="policies", queries=("q11",), policies=("hpa",), seeds=(8,), seconds=60, peak=900
    )
    (cell,) = spec.cells()
    words = command(spec.demo(cell, tmp_path / cell.name))
    assert words[1:4] == ["-m", "rheostat.cli", "demo"]
    demo = get_command(application("demo")).commands["demo"]  # type: ignore[attr-defined]
    given = demo.make_context("demo", words[4:]).params
    assert (given["query"], given["policy"], given["seed"]) == ("q11", "hpa", 8)
    assert (given["seconds"], given["cluster"]) == (60.0, "standalone")
    assert (given["peak"], given["ramp_share"]) == (900.0, 0.16)
    assert given["out"] == tmp_path / "q11-hpa-8"
