"""Write the tables of docs/evidence/predictive.md from the rows of its two sweeps.

Run: rheostat simulate sweep experiments/predictive.yaml
     rheostat simulate sweep experiments/predictive-parts.yaml
     python scripts/predictive_page.py out/sweep/predictive out/sweep/predictive-parts
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rheostat.sim.sweep.runner import rows
from rheostat.sim.sweep.sweep_summary import summary

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "predictive.md"
TITLES = {
    "predictive": "predictive",
    "measured-throughput": "measured-throughput",
    "chameleon": "chameleon",
    "fixed": "12 executors",
    "foresees": "no forecast",
    "models": "no model",
    "waits": "no ski-rental",
}


def table(folder: Path) -> str:
    """Return a row per load and start, a column per policy: attained seeds, and mean cost."""
    told = [entry for entry in summary(rows(folder)) if not entry["policy"].startswith("(")]
    names = [title for title in TITLES.values() if any(_title(each) == title for each in told)]
    lines = [
        "| load | start of an executor | " + " | ".join(names) + " |",
        "|---|---|" + "---|" * len(names),
    ]
    places = sorted({(each["load"], each["plant"]) for each in told}, key=_order)
    for load, plant in places:
        cells = {_title(e): _cell(e) for e in told if (e["load"], e["plant"]) == (load, plant)}
        shown = " | ".join(cells.get(name, "") for name in names)
        lines.append(f"| {load} | {plant.removeprefix('start ')} | {shown} |")
    return "\n".join(lines)


def _title(entry: Mapping[str, Any]) -> str:
    off = [title for name, title in TITLES.items() if entry["parameters"].get(name) is False]
    return off[0] if off else TITLES[entry["policy"]]


def _order(place: tuple[str, str]) -> tuple[str, float]:
    return place[0], float(place[1].split()[1])


def _cell(entry: Mapping[str, Any]) -> str:
    seeds, attained = entry["seeds"], round(entry["attained"] * entry["seeds"])
    cost = entry["cost"]
    half = (cost["high"] - cost["low"]) / 2
    spread = f" ± {half / 1000:.1f}" if seeds > 1 else ""
    return f"{attained} of {seeds}, {cost['mean'] / 1000:.1f}{spread}"


def main(folders: Sequence[str]) -> None:
    """Replace what stands between the markers of each table."""
    text = PAGE.read_text()
    for name, folder in zip(("policies", "parts"), folders, strict=True):
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{table(Path(folder))}\n\n{end}{rest.split(end)[1]}"
    PAGE.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
