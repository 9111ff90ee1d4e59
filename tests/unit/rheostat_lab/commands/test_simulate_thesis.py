"""``rheostat simulate thesis`` on a few cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from rheostat.errors import BadInput
from rheostat_lab.commands.simulate_thesis import thesis

app = typer.Typer()
app.command()(thesis)


def call(*arguments: str) -> None:
    app(list(arguments), standalone_mode=False)


def test_an_unknown_policy_is_rejected_by_name() -> None:
    with pytest.raises(BadInput, match="no policy 'Varga'; it has HPA, Vargav1"):
        call("--policy", "Varga")


def test_zero_seeds_are_rejected() -> None:
    with pytest.raises(BadInput, match="seeds and jobs must be at least 1"):
        call("--seeds", "0")


@pytest.mark.thorough
def test_three_cells_yield_rows_summary_and_plots(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "thesis.json"
    call(
        "--seeds",
        "1",
        "--jobs",
        "1",
        "--query",
        "1",
        "--policy",
        "DS2-modern",
        "--json",
        "--out",
        str(out),
    )
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads(out.read_text())
    assert [row["parameter"] for row in result["rows"]] == ["33", "66", "00"]
    published = {
        row["parameter"]: (row["published_latency_s"], row["held_out"]) for row in result["rows"]
    }
    assert published == {"33": (17.59, True), "66": (25.24, True), "00": (121.59, False)}
    assert len(result["summary"]["step_b"]["recordings"]) == 15
    assert {path.name for path in tmp_path.glob("*.png")} >= {
        "thesis-q1.png",
        "thesis-q1-zoomed.png",
    }


@pytest.mark.thorough
def test_rows_do_not_depend_on_the_number_of_processes() -> None:
    from rheostat_lab.thesis.closed_loop import run_all
    from rheostat_lab.thesis.fitted_parameters import fitted
    from rheostat_lab.thesis.thesis_runs import cells

    chosen = [cell for cell in cells() if cell.query == "1" and cell.policy == "DS2-modern"]
    assert run_all(chosen, fitted(), range(2), 1) == run_all(chosen, fitted(), range(2), 2)
