"""The pages of the protocols contain the tables that the code executes."""

import re
import runpy
from pathlib import Path

import pytest

from rheostat.protocols.executors.executor_lifecycle import LIFE
from rheostat.protocols.orders import Hide
from rheostat.protocols.repartition import REPARTITION, back
from rheostat.protocols.transition_table import Row, Table

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "concepts"
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "protocol_pages.py"))


@pytest.mark.parametrize("name", SCRIPT["PAGES"])
def test_the_page_matches_the_script(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert text == SCRIPT["page"](name), "run: python scripts/protocol_pages.py"
    assert re.findall(r"<!-- generated: (\w+) -->", text) == [*SCRIPT["PAGES"][name]]


def test_the_table_of_transitions_has_every_row_of_every_protocol() -> None:
    text = (PAGES / "transitions.csv").read_text(encoding="utf-8")
    assert text == SCRIPT["transitions"](SCRIPT["TABLES"]), "run: python scripts/protocol_pages.py"
    assert len(text.splitlines()) == 1 + sum(len(table.rows) for table in SCRIPT["TABLES"].values())
    for name in SCRIPT["PAGES"]:
        assert "(transitions.csv)" in (PAGES / f"{name}.md").read_text(encoding="utf-8")


def test_both_diagrams_show_every_phase_and_transition() -> None:
    text = (PAGES / "rescaling.md").read_text(encoding="utf-8")
    arrows = set(re.findall(r"^    (\w+) --> (\w+): ([\w ]+?)(?: /|$)", text, re.MULTILINE))
    rows = {(phase, to, event) for phase, event, to, _, _ in (row.cells() for row in LIFE.rows)}
    assert {event for _, _, event in rows - arrows} == {"lost", "chosen"}
    assert set(SCRIPT["SCALE_OUT"]) | set(SCRIPT["SCALE_IN"]) == set(LIFE.phases)


def test_the_diagrams_of_a_repartition_show_every_phase() -> None:
    assert set(SCRIPT["FORWARD"]) | set(SCRIPT["BACK"]) == set(REPARTITION.phases)


def test_every_forward_phase_of_a_repartition_can_be_rolled_back() -> None:
    for phase in SCRIPT["FORWARD"]:
        assert back in [row.event for row in REPARTITION.of(phase)]


def go(facts: set[str]) -> bool:
    """It may go."""
    return "go" in facts


def stay(facts: set[str]) -> bool:
    """It has to
    stay.
    """
    return "stay" in facts


ONE = Table(
    start="a",
    end="z",
    rows=(Row("a", stay, "b", Hide), Row("a", go, "z"), Row("b", stay, "z"), Row("b", go, "z")),
)


def test_a_diagram_shows_the_rows_between_phases_with_their_orders() -> None:
    assert SCRIPT["mermaid"](ONE, ["a", "b"]).splitlines() == [
        "stateDiagram-v2",
        "    [*] --> a",
        "    a --> b: stay / Hide",
    ]
    assert SCRIPT["mermaid"](ONE, ["b", "z"], without={"go"}).splitlines() == [
        "stateDiagram-v2",
        "    b --> z: stay",
        "    z --> [*]",
    ]


def test_tables_state_the_order_and_the_meaning_of_every_event() -> None:
    rows = SCRIPT["transitions"]({"one": ONE}).splitlines()
    assert rows[1:3] == ["one,a,stay,b,Hide", "one,a,go,z,"]
    assert rows[3:] == ["one,b,stay,z,", "one,b,go,z,"]
    lines = SCRIPT["markdown"](ONE).splitlines()
    assert lines[2:] == ["| stay | It has to stay |", "| go | It may go |"]
