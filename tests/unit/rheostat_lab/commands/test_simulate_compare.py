"""``rheostat simulate compare`` on a few short runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rheostat.cli.app import run

HERE = ["simulate", "compare", "--master", "none"]
SHORT = [
    *HERE,
    "--seeds",
    "1",
    "--trials",
    "1",
    "--minutes",
    "6",
    "--load",
    "bursts",
    "--start",
    "60",
    "--policy",
    "fixed",
]


def test_a_short_comparison_yields_rows_summary_bounds_and_plots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "found.json"
    given = [*SHORT, "--folder", str(tmp_path / "rows")]
    assert run([*given, "--json", "--out", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads(out.read_text())
    policies = {
        "(best static)",
        "(clairvoyant)",
        "(clairvoyant bound)",
        "fixed",
        "measured-throughput",
    }
    assert (
        {row["policy"] for row in result["rows"]}
        == {entry["policy"] for entry in result["summary"]}
        == policies
    )
    assert {row["seed"] for row in result["rows"]} == {0}
    assert [entry["policy"] for entry in result["chosen"]] == ["fixed"]
    assert result["non_anticipative"]["bursts-start-60"]["lower"] > 0
    assert {path.name for path in tmp_path.glob("*.svg")} == {
        "compare-bursts-start-60.svg",
        "compare-bursts-start-60-zoomed.svg",
    }
    kept = sorted(path.stat().st_mtime_ns for path in (tmp_path / "rows").glob("*.parquet"))
    assert run(given) == 0
    assert kept == sorted(path.stat().st_mtime_ns for path in (tmp_path / "rows").glob("*.parquet"))
    output = capsys.readouterr().out
    assert "non-anticipative bound, bursts-start-60: " in output
    assert "measured-throughput" in output


@pytest.mark.parametrize(
    ("given", "message"),
    [(["--policy", "nope"], "unknown policy 'nope'"), (["--load", "sea"], "no load 'sea'")],
)
def test_invalid_comparisons_are_rejected_in_one_line(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*HERE, *given]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
