import json
from pathlib import Path

import pytest

from rheostat.cli.app import run


def test_a_simulated_queue_is_compared_with_theory(
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
    result = json.loads(printed)
    assert json.loads(out.read_text()) == result
    assert result["theory_wait_s"] == pytest.approx(0.5625)  # C(2, 1.2) / (2 - 1.2)
    assert result["wait_low_s"] < result["wait_s"] < result["wait_high_s"]
    assert result["arrived"] == result["left"] + result["inside"]


def test_a_queue_result_is_printed_as_text(capsys: pytest.CaptureFixture[str]) -> None:
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
    output = capsys.readouterr().out
    assert "mean wait in theory: 0.5 s" in output
    assert "Little's law" in output


def test_the_benchmark_has_one_row_per_policy_and_plant(capsys: pytest.CaptureFixture[str]) -> None:
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
    ("arguments", "message"),
    [
        (["queue", "--servers", "0"], "1 server or more"),
        (["queue", "--arrival", "2"], "grows without end"),
        (["queue", "--runs", "1"], "2 runs or more"),
        (["bench", "--policy", "nope"], "unknown policy 'nope'"),
        (["bench", "--plant", "storm"], "unknown plant 'storm'; there are spark, flink"),
        (["bench", "--seconds", "1"], "at least 60"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
