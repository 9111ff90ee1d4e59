"""The example of what-if on a journal runs as a reader would run it."""

import runpy
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[4] / "examples" / "05_what_if.py"


def test_the_example_prints_the_recorded_run_and_the_cost_of_the_policy(
    journaled, monkeypatch, capsys
):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(journaled("fixed", 8, 900))])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "recorded",
        "with predictive",
        "objective attained",
    ]
