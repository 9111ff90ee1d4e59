"""``rheostat simulate demand`` on small plants."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rheostat.cli.app import run

HERE = [
    "simulate",
    "demand",
    "--slo",
    "30",
    "--seeds",
    "2",
    "--max",
    "6",
    "--loads",
    "5000:25000:10000",
]


def test_the_demand_curve_is_printed_written_and_plotted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demand.json"
    assert run([*HERE, "--json", "--out", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads(out.read_text())
    assert [row["rate_per_s"] for row in result["rows"]] == [5_000, 15_000, 25_000]
    assert all(row["low"] <= row["executors"] <= row["high"] for row in result["rows"])
    assert (
        [row["executors"] for row in result["rows"]]
        == [row["by_model"] for row in result["rows"]]
        == [2, 4, 6]
    )
    assert (result["plant"], result["parameters"]["trigger_s"], result["max"]) == ("spark", 10.0, 6)
    assert "least to most of the seeds" in (tmp_path / "demand.svg").read_text()
    drawn = (tmp_path / "demand.svg").read_bytes()
    assert run([*HERE, "--plots", str(tmp_path)]) == 0
    assert (
        "median of 2 seeds, least to most; the batch model has no noise" in capsys.readouterr().out
    )
    assert (tmp_path / "demand.svg").read_bytes() == drawn


def test_a_load_beyond_the_ceiling_has_no_size_and_is_marked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    beyond = [*HERE[:-1], "90000:90000:1"]
    assert run([*beyond, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row == {
        "rate_per_s": 90_000.0,
        "executors": None,
        "low": None,
        "high": None,
        "by_model": None,
    }
    assert run(beyond) == 0
    assert "above 6 to above 6" in capsys.readouterr().out


def test_parameters_are_applied_and_default_loads_reach_the_ceiling(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([*HERE[:-2], "--set", "source_row_s=0.0002", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["parameters"]["source_row_s"] == 0.0002
    assert [row["rate_per_s"] for row in result["rows"]] == pytest.approx(
        [1_000 * step for step in range(1, 21)]
    )  # 6 / 0.0003 a row


def test_a_flink_job_has_a_demand_curve(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(
            [
                *HERE,
                "--plant",
                "flink",
                "--set",
                "rate_per_s=6000",
                "--set",
                "shuffled=true",
                "--json",
            ]
        )
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    sizes = [row["executors"] for row in result["rows"]]
    assert sizes == sorted(sizes)
    assert "by_model" not in result["rows"][0]
    assert result["parameters"]["shuffled"] is True


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            ["--loads", "5000"],
            (
                "loads are written FROM:TO:STEP in rows per second, such as 5000:50000:5000, but"
                " they are '5000'"
            ),
        ),
        (
            ["--loads", "0:5:1"],
            "must rise from above 0 in steps above 0 rows per second, but they are '0:5:1'",
        ),
        (["--loads", "9:5:1"], "must rise from above 0"),
        (["--loads", "1:1e9:1"], "at most 1000, but '1:1e9:1' are 1,000,000,000"),
        (["--plant", "storm"], "unknown plant 'storm'; there are spark, flink"),
        (["--plant", "flink"], "a Flink job needs rate_per_s"),
        (
            ["--plant", "flink", "--set", "rate_per_s=fast"],
            "rate_per_s of a Flink job must be a number, but it is 'fast'",
        ),
        (["--plant", "flink", "query-1_HPA_50"], "a recording is fitted with a Spark plant"),
        (["--set", "tempo=3"], "there is no parameter 'tempo'"),
        (["--set", "source_row_s=0", "--set", "state_row_s=0"], "rows cost nothing on this plant"),
        (["--seeds", "0"], "seeds must be at least 1, but are 0"),
        (["--minutes", "5"], "more than the 5 minutes that do not count, but it is 5"),
        (["--slo", "0"], "objective must be above 0 seconds"),
        (["--max", "0"], "max executors (0)"),
        (["nowhere"], "there is no recording nowhere"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", "demand", *given]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
