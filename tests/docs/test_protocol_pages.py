"""The pages of the protocols contain the tables that the code executes."""

import re
import runpy
from pathlib import Path

import pytest

from rheostat.protocols.executors.executor_lifecycle import LIFE, SCALE_IN, SCALE_OUT

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "concepts"
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "protocol_pages.py"))


@pytest.mark.parametrize("name", SCRIPT["PAGES"])
def test_the_page_matches_the_script(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert text == SCRIPT["page"](name), "run: python scripts/protocol_pages.py"
    assert re.findall(r"<!-- generated: (\w+) -->", text) == [*SCRIPT["PAGES"][name]]


def test_both_diagrams_show_every_phase_and_transition() -> None:
    text = (PAGES / "rescaling.md").read_text(encoding="utf-8")
    arrows = set(re.findall(r"^    (\w+) --> (\w+): ([\w ]+?)(?: /|$)", text, re.MULTILINE))
    rows = {(phase, to, event) for phase, event, to, _, _ in (row.cells() for row in LIFE.rows)}
    assert {event for _, _, event in rows - arrows} == {"lost", "chosen"}
    assert set(SCALE_OUT) | set(SCALE_IN) == set(LIFE.phases)
