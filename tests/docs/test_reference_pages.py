"""The pages of the reference match the code."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = runpy.run_path(str(ROOT / "scripts" / "reference_pages.py"))["pages"]()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_matches_the_script(name: str) -> None:
    text = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
    assert text == PAGES[name], "run: python scripts/reference_pages.py"
