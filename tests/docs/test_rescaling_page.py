"""docs/concepts/rescaling.md is drawn from the table that the saga runs."""

import re
import runpy
from pathlib import Path

import pytest

from rheostat.protocols.executors.executor_lifecycle import EVENTS, IN, LIFE, OUT

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "concepts" / "rescaling.md"


@pytest.fixture(scope="module")
def drawn():
    return PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_script_makes(drawn):
    made = runpy.run_path(str(ROOT / "scripts" / "rescaling_diagrams.py"))["page"]()
    assert drawn == made, "run: python scripts/rescaling_diagrams.py"


def test_every_transition_is_in_the_table_with_the_meaning_of_its_event(drawn):
    rows = [
        tuple(cell.strip() for cell in line.strip("|").split("|")) for line in drawn.splitlines()
    ]
    for each in LIFE.transitions:
        assert (each.phase, each.event, each.to, each.order, EVENTS[each.event]) in rows


def test_the_two_diagrams_show_every_phase_and_every_transition_but_the_ways_across(drawn):
    arrows = set(re.findall(r"^    (\w+) --> (\w+): ([\w ]+?)(?: /|$)", drawn, re.MULTILINE))
    across = {(each.phase, each.to, each.event) for each in LIFE.transitions} - arrows
    assert {event for _, _, event in across} == {"lost", "chosen"}
    assert set(IN) | set(OUT) == set(LIFE.phases)
