"""The example of what-if on a journal runs as a reader would run it."""

import runpy
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[4] / "examples" / "05_what_if.py"


def test_it_tells_what_was_recorded_and_what_the_policy_costs(journaled, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(journaled("fixed", 8, 900))])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said] == [
        "recorded",
        "with predictive",
        "objective attained",
    ]
