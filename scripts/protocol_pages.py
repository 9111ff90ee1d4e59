"""Write the diagrams and tables of the three protocols into their pages in docs/concepts.

    python scripts/protocol_pages.py

``transitions.csv`` in the same folder has every row of the three tables in evaluation order.

The rest of a page, outside ``<!-- generated: NAME -->`` and ``<!-- end -->``, is edited by hand.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from enum import Enum
from io import StringIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rheostat.protocols.executors.executor_lifecycle import LIFE  # noqa: E402
from rheostat.protocols.executors.memory import Waits  # noqa: E402
from rheostat.protocols.repartition import REPARTITION, RepartitionOrder  # noqa: E402
from rheostat.protocols.restart import RESTART, RestartOrder  # noqa: E402
from rheostat.protocols.transition_table import Table, name_of  # noqa: E402

FOLDER = ROOT / "docs" / "concepts"
_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n)(?:.*?\n)??(<!-- end -->)", re.DOTALL)

SCALE_OUT = (
    *("requested", "registered", "warming", "warm", "standby"),
    *("assigned", "ready", "rebalancing", "stuck"),
)
SCALE_IN = (
    *("warm", "standby", "ready", "candidate", "emptying"),
    *("hidden", "leaving", "urged", "killed", "gone"),
)
FORWARD = ("begun", "written", "verified", "locked", "placed", "committed", "done")
BACK = ("withdrawing", "unlocked", "ended", "done")
"""The phases of each diagram."""


def mermaid(table: Table[Any, Any], phases: Collection[str], without: Collection[str] = ()) -> str:
    """Return the rows between ``phases`` as a Mermaid diagram, omitting some events."""
    rows = [row.cells() for row in table.rows if row.phase in phases and row.to in phases]
    lines = [
        f"    {phase} --> {to}: {' / '.join(filter(None, (event, order)))}"
        for phase, event, to, order, _ in rows
        if event not in without
    ]
    first = [f"    [*] --> {table.start}"] if table.start in phases else []
    last = [f"    {table.end} --> [*]"] if table.end in phases else []
    return "\n".join(["stateDiagram-v2", *first, *lines, *last])


def markdown(table: Table[Any, Any]) -> str:
    """Return the table of the meanings of the events."""
    meanings = {event: text for _, event, _, _, text in (row.cells() for row in table.rows)}
    return "\n".join(
        [
            "| event | holds when |",
            "|---|---|",
            *(f"| {event} | {text} |" for event, text in meanings.items()),
        ]
    )


def _orders(orders: Iterable[Enum]) -> str:
    rows = [f"| {name_of(order)} | {order.value} |" for order in orders]
    return "\n".join(["| order | what it does |", "|---|---|", *rows])


def _waits() -> str:
    rows = [
        f"| `{wait.name}` | {getattr(Waits(), wait.name):g} | {wait.metadata['then']} |"
        for wait in fields(Waits)
    ]
    return "\n".join(["| setting | default | then |", "|---|---|---|", *rows])


def _drawn(table: Table[Any, Any], phases: Collection[str], without: Collection[str] = ()) -> str:
    return f"```mermaid\n{mermaid(table, phases, without)}\n```"


PAGES = {
    "rescaling": {
        "scale_out": _drawn(LIFE, SCALE_OUT, without={"lost", "chosen"}),
        "scale_in": _drawn(LIFE, SCALE_IN),
        "table": markdown(LIFE),
        "waits": _waits(),
    },
    "restart": {
        "diagram": _drawn(RESTART, RESTART.phases, without={"absent"}),
        "table": markdown(RESTART),
        "orders": _orders(RestartOrder),
    },
    "repartition": {
        "forward": _drawn(REPARTITION, FORWARD, without={"back", "overtaken"}),
        "back": _drawn(REPARTITION, BACK),
        "table": markdown(REPARTITION),
        "orders": _orders(RepartitionOrder),
    },
}


TABLES: Mapping[str, Table[Any, Any]] = {
    "rescaling": LIFE,
    "restart": RESTART,
    "repartition": REPARTITION,
}


def transitions(tables: Mapping[str, Table[Any, Any]]) -> str:
    """Return the text of the CSV file of all rows of tables, in the order of their tests."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("page", "phase", "event", "next phase", "order"))
    for name, table in tables.items():
        for phase in table.phases:
            rows.writerows((name, *row.cells()[:4]) for row in table.of(phase))
    return text.getvalue()


def page(name: str) -> str:
    """Return the text of a page with its generated parts."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return _BLOCK.sub(lambda block: f"{block[1]}{PAGES[name][block[2]]}\n{block[3]}", text)


if __name__ == "__main__":
    (FOLDER / "transitions.csv").write_text(transitions(TABLES), encoding="utf-8")
    for name in PAGES:
        (FOLDER / f"{name}.md").write_text(page(name), encoding="utf-8")
