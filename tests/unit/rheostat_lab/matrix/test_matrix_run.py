"""``rheostat lab run`` of a matrix: existing runs, failed runs, and runs in other conditions."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from rheostat.cli.app import run
from rheostat.errors import BadInput, RheostatError
from rheostat_lab.demo import results_folder
from rheostat_lab.experiment_file import spec_of, values_of
from rheostat_lab.matrix import matrix_run
from rheostat_lab.matrix.kept_run import keep_finished, observations, results_of
from rheostat_lab.matrix.matrix_spec import Cell, MatrixSpec
from rheostat_lab.matrix.played_run import read_run

SPEC = """experiment: matrix
minutes: 1
queries: [q1]
loads: {low: "constant:rate=100"}
policies: [fixed, hpa]
seeds: [3]
"""
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
FIXED, HPA = "q1-low-fixed-3", "q1-low-hpa-3"


LOOK = {"schema": 1, "t_s": 100.5, "observation": {"t_s": 100.5, "executors": 2}}
LINE = json.dumps({**LOOK, "rescaling": {"phase": "steady", "detail": ""}})


def play_run(folder: Path, **changed: object) -> Path:
    (folder / "journal").mkdir(parents=True)
    (folder / "journal" / "segment-00000.jsonl").write_text(f"{LINE}\n")
    (folder / "summary.json").write_text(json.dumps({**SUMMARY, **changed}))
    return folder


def lab_run(spec: Path, out: Path) -> int:
    return run(["lab", "run", str(spec), "--out", str(out), "--json"])


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "short.yaml"
    path.write_text(SPEC)
    return path


def test_existing_runs_are_compared_and_not_repeated(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    play_run(out / "short" / FIXED)
    play_run(out / "short" / HPA, objective_met=False)
    assert lab_run(spec, out) == 0
    (result,) = json.loads(capsys.readouterr().out)
    rows = [(row["policy"], row["attained"]) for row in result["rows"]]
    assert rows == [("fixed", True), ("hpa", False)]
    assert result["lines"][0] == "2 of 2 runs exist."
    assert "No other policy did better on these days." in result["lines"]
    assert pq.read_table(out / "short.parquet").num_rows == 2


def test_a_failed_run_is_recorded_with_its_reason_and_the_others_continue(
    tmp_path: Path,
    spec: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(spec: MatrixSpec, number: int, folder: Path, lock: int) -> None:
        if number == 0:
            raise RheostatError("the broker died")
        play_run(folder)

    monkeypatch.setattr(matrix_run, "play", play)
    out = tmp_path / "out"
    (out / "short").mkdir(parents=True)
    assert lab_run(spec, out) == 1
    assert "1 of 2 runs failed (q1-low-fixed-3 first)" in capsys.readouterr().err
    result = json.loads((out / "short.json").read_text())
    assert result["failures"] == {FIXED: "the broker died"}
    assert [row["policy"] for row in result["rows"]] == ["hpa"]
    monkeypatch.setattr(matrix_run, "play", lambda spec, number, folder, lock: play_run(folder))
    assert lab_run(spec, out) == 0
    assert json.loads((out / "short.json").read_text())["failures"] == {}


def test_runs_with_other_settings_are_not_mixed(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    for name in (FIXED, HPA):
        play_run(out / "short" / name)
    assert lab_run(spec, out) == 0
    spec.write_text(SPEC.replace("minutes: 1", "minutes: 2"))
    capsys.readouterr()
    assert lab_run(spec, out) == 2
    assert "was played with minutes 1, not 2; name another --out" in capsys.readouterr().err


def test_committed_runs_are_not_repeated_on_a_fresh_clone(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = tmp_path / "elsewhere" / "short"
    play_run(lab / HPA, latency_mean_s=2.5)
    committed = results_of(spec)
    committed.mkdir(parents=True)
    keep_finished(spec_of(MatrixSpec, spec, values_of(spec)), lab, committed)
    assert [path.name for path in committed.iterdir()] == [f"{HPA}.parquet"]
    assert [now.executors for now in observations(committed / f"{HPA}.parquet")] == [2]
    played: list[str] = []

    def play(spec: MatrixSpec, number: int, folder: Path, lock: int) -> None:
        played.append(folder.name)
        play_run(folder)

    monkeypatch.setattr(matrix_run, "play", play)
    assert lab_run(spec, tmp_path / "out") == 0
    assert played == [FIXED]
    (result,) = json.loads(capsys.readouterr().out)
    assert [row["latency_mean_s"] for row in result["rows"]] == [None, 2.5]


def test_a_run_without_usable_results_fails_and_is_repeated(
    tmp_path: Path, spec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    play_run(out / "short" / FIXED)
    play_run(out / "short" / HPA, slot_hours=0.0)
    monkeypatch.setattr(results_folder, "check", lambda folder: None)
    monkeypatch.setattr(matrix_run, "play", lambda spec, number, folder, lock: None)
    assert lab_run(spec, out) == 1
    failure = json.loads((out / "short.json").read_text())["failures"][HPA]
    assert "has no slot-hours" in failure


def test_a_folder_of_the_user_is_rejected_before_any_run(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out" / "short" / HPA
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("mine")
    assert lab_run(spec, tmp_path / "out") == 2
    assert "thesis.tex" in capsys.readouterr().err
    assert not list((tmp_path / "out" / "short").glob("*.log"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"summary\.json is not a demo summary"),
        (json.dumps({**SUMMARY, "slot_hours": 0.0}), "has no slot-hours"),
    ],
)
def test_an_invalid_summary_is_named(tmp_path: Path, text: str, message: str) -> None:
    folder = play_run(tmp_path / HPA)
    (folder / "summary.json").write_text(text)
    with pytest.raises(BadInput, match=message):
        read_run(folder, Cell("q1", "low", "hpa", {}, 3))


def test_a_full_disk_ends_the_lab_with_one_line_and_the_runs_so_far(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> tuple[int, str]:
        raise OSError(errno.ENOSPC, "No space left on device")

    def play(spec: MatrixSpec, number: int, folder: Path, lock: int) -> None:
        if number == 1:
            monkeypatch.setattr(tempfile, "mkstemp", full)
            raise RheostatError("ended with exit code 2")
        play_run(folder)

    monkeypatch.setattr(matrix_run, "play", play)
    out = tmp_path / "out"
    assert lab_run(spec, out) == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert last.endswith("cannot be written: No space left on device")
    assert [row["policy"] for row in json.loads((out / "short.json").read_text())["rows"]] == [
        "fixed"
    ]


def test_too_little_space_ends_the_lab_before_a_run(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=2 * 1024**2))
    assert lab_run(spec, tmp_path / "out") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"a run needs 64 MiB in {tmp_path}/out/short, but only 2 MiB are free")


def test_a_failed_run_does_not_shorten_the_remaining_time(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(spec: MatrixSpec, number: int, folder: Path, lock: int) -> None:
        raise RheostatError("the broker died")

    monkeypatch.setattr(matrix_run, "play", fails)
    assert lab_run(spec, tmp_path / "out") == 1
    shown = [line for line in capsys.readouterr().err.splitlines() if line.endswith("left")]
    assert shown == [
        f"short: run 1 of 2, {FIXED}; about 4 min left",
        f"short: run 2 of 2, {HPA}; about 2 min left",
    ]


def test_two_labs_do_not_play_in_one_folder(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_run, "_ENDING_S", 0.0)
    folder = tmp_path / "out" / "short"
    folder.mkdir(parents=True)
    with (folder / matrix_run.LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert lab_run(spec, tmp_path / "out") == 2
    assert f"another lab plays in {folder}" in capsys.readouterr().err


def test_a_file_in_place_of_the_folder_is_named(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "short").write_text("")
    assert lab_run(spec, tmp_path) == 2
    assert f"the folder {tmp_path}/short cannot be used" in capsys.readouterr().err


def test_two_specifications_with_one_name_are_rejected(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other" / spec.name
    other.parent.mkdir()
    other.write_text(SPEC.replace("[3]", "[4]"))
    assert run(["lab", "run", str(spec), str(other), "--out", str(tmp_path / "out")]) == 2
    assert "two files have the same name" in capsys.readouterr().err


def test_more_hours_are_allowed_by_the_command_line_or_in_a_terminal(
    tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec.write_text(f"{SPEC}hours: 0.01\n")
    monkeypatch.setattr(matrix_run, "play", lambda spec, number, folder, lock: play_run(folder))
    assert lab_run(spec, tmp_path / "a") == 2
    message = "2 runs take about 0.1 hours, but hours allows 0.01"
    assert f"{message}; add --hours 1 to play them" in capsys.readouterr().err
    assert run(["lab", "run", str(spec), "--out", str(tmp_path / "b"), "--hours", "1"]) == 0
    monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
    assert lab_run(spec, tmp_path / "c") == 0
    assert f"{message}. Play them?" in capsys.readouterr().err


class Terminal(io.StringIO):
    """Input that a person types."""

    def isatty(self) -> bool:
        return True
