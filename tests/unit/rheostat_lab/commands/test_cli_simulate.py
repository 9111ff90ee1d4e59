import json
from pathlib import Path

import pytest

from rheostat.cli.app import run


def test_a_queue_is_compared_with_its_theory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "queue.json"
    arguments = [
        "simulate",
        "queue",
        "--servers",
        "2",
        "--arrival",
        "1.2",
        "--service",
        "1",
        "--customers",
        "1000",
        "--runs",
        "4",
    ]
    assert run([*arguments, "--json", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    found = json.loads(printed)
    assert json.loads(out.read_text()) == found
    assert found["theory_wait_s"] == pytest.approx(0.5625)  # C(2, 1.2) / (2 - 1.2)
    assert found["wait_low_s"] < found["wait_s"] < found["wait_high_s"]
    assert found["arrived"] == found["left"] + found["inside"]


def test_a_queue_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                "simulate",
                "queue",
                "--law",
                "deterministic",
                "--arrival",
                "0.5",
                "--customers",
                "1000",
                "--runs",
                "4",
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "mean wait in theory: 0.5 s" in said
    assert "Little's law" in said


def test_the_benchmark_has_a_row_per_policy_and_plant(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                "simulate",
                "bench",
                "--policy",
                "threshold",
                "--policy",
                "fixed",
                "--seconds",
                "600",
                "--json",
            ]
        )
        == 0
    )
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["policy"], row["plant"]) for row in rows] == [
        ("threshold", "spark"),
        ("threshold", "flink"),
        ("fixed", "spark"),
        ("fixed", "flink"),
    ]
    assert all(row["simulated_s_per_s"] > 0 and row["decisions"] == 10 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["queue", "--servers", "0"], "1 server or more"),
        (["queue", "--arrival", "2"], "grows without end"),
        (["queue", "--runs", "1"], "2 runs or more"),
        (["bench", "--policy", "nope"], "unknown policy 'nope'"),
        (["bench", "--plant", "storm"], "unknown plant 'storm'; there are spark, flink"),
        (["bench", "--seconds", "1"], "at least 60"),
    ],
)
def test_bad_input_is_one_line_and_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
