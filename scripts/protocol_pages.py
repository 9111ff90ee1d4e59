"""Write the diagrams and tables of the three protocols into their pages in docs/concepts.

    python scripts/protocol_pages.py

The rest of a page, outside ``<!-- generated: NAME -->`` and ``<!-- end -->``, is edited by hand.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import fields
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rheostat.protocols.executors.executor_lifecycle import LIFE, SCALE_IN, SCALE_OUT  # noqa: E402
from rheostat.protocols.executors.memory import Waits  # noqa: E402
from rheostat.protocols.repartition import BACK, FORWARD, REPARTITION, RepartitionOrder  # noqa: E402
from rheostat.protocols.restart import RESTART, RestartOrder  # noqa: E402
from rheostat.protocols.transition_table import name_of  # noqa: E402

FOLDER = ROOT / "docs" / "concepts"
_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n)(?:.*?\n)??(<!-- end -->)", re.DOTALL)


def _orders(orders: Iterable[Enum]) -> str:
    rows = [f"| {name_of(order)} | {order.value} |" for order in orders]
    return "\n".join(["| order | what it does |", "|---|---|", *rows])


def _waits() -> str:
    rows = [
        f"| `{wait.name}` | {getattr(Waits(), wait.name):g} | {wait.metadata['then']} |"
        for wait in fields(Waits)
    ]
    return "\n".join(["| setting | default | then |", "|---|---|---|", *rows])


def _drawn(diagram: str) -> str:
    return f"```mermaid\n{diagram}\n```"


PAGES = {
    "rescaling": {
        "scale_out": _drawn(LIFE.mermaid(SCALE_OUT, without={"lost", "chosen"})),
        "scale_in": _drawn(LIFE.mermaid(SCALE_IN)),
        "table": LIFE.markdown(),
        "waits": _waits(),
    },
    "restart": {
        "diagram": _drawn(RESTART.mermaid(RESTART.phases, without={"absent"})),
        "table": RESTART.markdown(),
        "orders": _orders(RestartOrder),
    },
    "repartition": {
        "forward": _drawn(REPARTITION.mermaid(FORWARD, without={"back", "overtaken"})),
        "back": _drawn(REPARTITION.mermaid([*BACK[-3:], "done"])),
        "table": REPARTITION.markdown(),
        "orders": _orders(RepartitionOrder),
    },
}


def page(name: str) -> str:
    """Return the text of a page with its generated parts."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return _BLOCK.sub(lambda block: f"{block[1]}{PAGES[name][block[2]]}\n{block[3]}", text)


if __name__ == "__main__":
    for name in PAGES:
        (FOLDER / f"{name}.md").write_text(page(name), encoding="utf-8")
