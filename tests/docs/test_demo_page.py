"""The table of the demo's page contains the runs of the CSV files beside it."""

import runpy
from pathlib import Path

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "demo_page.py"))


def test_the_page_matches_the_runs() -> None:
    text = SCRIPT["PAGE"].read_text(encoding="utf-8")
    assert text == SCRIPT["page"](), "run: python scripts/demo_page.py QUERY FOLDER..."


def test_every_query_has_at_least_five_runs() -> None:
    assert all(len(SCRIPT["read_runs"](query)) >= 5 for query in SCRIPT["QUERIES"])
