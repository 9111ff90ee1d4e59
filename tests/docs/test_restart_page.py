"""docs/concepts/restart.md is made from the table that the supervisor runs."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_script_makes():
    made = runpy.run_path(str(ROOT / "scripts" / "restart_page.py"))["page"]()
    drawn = (ROOT / "docs" / "concepts" / "restart.md").read_text(encoding="utf-8")
    assert drawn == made, "run: python scripts/restart_page.py"
