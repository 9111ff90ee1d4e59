"""Write the CSV files and the table of docs/evidence/predictive.md from the rows of its sweeps.

Run: rheostat simulate sweep experiments/predictive.yaml
     rheostat simulate sweep experiments/predictive-peers.yaml
     python scripts/predictive_peers.py out/sweep/predictive-peers 502 503 504
     rheostat simulate sweep experiments/predictive-objectives.yaml
     python scripts/predictive_page.py out/sweep
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, TypeAlias

import typer

from rheostat_lab.bounds.scoring import score
from rheostat_lab.sweep.runner import rows
from rheostat_lab.sweep.sweep_summary import mean_of

PAGE = Path(__file__).parents[1] / "docs" / "evidence" / "predictive.md"
OURS, DEFAULT = "predictive", "measured-throughput"
STATIC, CLAIRVOYANT = "(best static)", "(clairvoyant)"
SIMPLE = (DEFAULT, "ds2-modern", "hpa")
Table: TypeAlias = list[tuple[str, ...]]
RUNS: TypeAlias = Mapping[Any, Mapping[str, Any]]
"""Rows by seed, or by load, plant and seed."""

PLACES: TypeAlias = Mapping[tuple[str, str], Mapping[str, RUNS]]


def by_place(results: Sequence[Mapping[str, Any]]) -> PLACES:
    """Return rows by (load, start), policy and seed."""
    places: dict[tuple[str, str], dict[str, dict[int, Mapping[str, Any]]]] = {}
    for row in results:
        place = places.setdefault((row["load"], row["plant"].removeprefix("start ")), {})
        place.setdefault(row["policy"], {})[row["seed"]] = row
    return dict(sorted(places.items(), key=lambda item: (item[0][0], float(item[0][1].split()[0]))))


def policies(sweeps: Path) -> Table:
    """Return predictive and measured-throughput, paired by seed."""
    lines: Table = [("load", "start", OURS, DEFAULT, f"{OURS} less {DEFAULT}")]
    for place, results in by_place(rows(sweeps / "predictive")).items():
        ours, theirs = results[OURS], results[DEFAULT]
        shown = [_cell(ours), _cell(theirs), _less(ours, theirs)]
        lines.append((*place, *shown))
    return lines


def peers(sweeps: Path) -> Table:
    """Return the scores of predictive on the seeds with bounds, and the best of the others on their
    seeds.
    """
    lines: Table = [
        ("load", "start", "clairvoyant", "best fixed size", "score: mean, worst", "best other")
    ]
    tried, best = rows(sweeps / "predictive-peers"), rows(sweeps / "predictive-peers-best")
    bounds = by_place([row for row in (*tried, *best) if row["policy"].startswith("(")])
    ours_by_place = by_place([row for row in best if row["policy"] == OURS])
    played = [row for row in best if row["policy"] != OURS]
    others_by_place = by_place([row for row in played if not row["policy"].startswith("(")])
    for place, others in others_by_place.items():
        ours, bound = ours_by_place[place][OURS], bounds.get(place, {})
        most = max(len(runs) for runs in others.values())
        complete = [peer for peer in others if len(others[peer]) == most]
        name = min(complete, key=lambda peer: (-_attained(others[peer]), _cost(others[peer])))
        other = f"`{name}`: {_cell(others[name])}; {OURS} {_less(ours, others[name])}"
        static, clairvoyant = bound.get(STATIC, {}), bound.get(CLAIRVOYANT, {})
        scores = [
            score(row["cost"], static[seed]["cost"], path["cost"], attained=ours[seed]["attained"])
            for seed, path in clairvoyant.items()
            if seed in static and (row := ours.get(seed))
        ]
        known = [value for value in scores if value is not None]
        summary_text = f"{mean(known):.2f}, {min(known):.2f} (n {len(known)})" if known else ""
        lines.append((*place, _plain(clairvoyant), _plain(static), summary_text, other))
    return lines


def objectives(sweeps: Path) -> Table:
    """Return all policies with their defaults, over the loads of each plant and the plants of each
    load.
    """
    lines: Table = [("plant or load", OURS, *SIMPLE, f"{OURS} less {DEFAULT}")]
    results = rows(sweeps / "predictive-objectives")
    for kind in ("plant", "load"):
        for name in sorted({row[kind] for row in results}, key=_in_order):
            runs: dict[str, dict[Any, Mapping[str, Any]]] = {
                policy: {} for policy in (OURS, *SIMPLE)
            }
            for row in results:
                if row[kind] == name:
                    runs[row["policy"]][row["load"], row["plant"], row["seed"]] = row
            cells = [_cell(policy_runs) for policy_runs in runs.values()]
            lines.append((name, *cells, _less(runs[OURS], runs[DEFAULT])))
    return lines


def _in_order(name: str) -> tuple[str, float]:
    """Return a key that sorts names by their words, and starts by their seconds."""
    words, _, start = name.partition(", start ")
    return words, float(start.split()[0]) if start else 0.0


def _attained(runs: RUNS) -> int:
    return sum(bool(row["attained"]) for row in runs.values())


def _cost(runs: RUNS) -> float:
    return mean(row["cost"] for row in runs.values())


def _cell(runs: RUNS) -> str:
    if not runs:
        return ""
    return f"{_attained(runs)} of {len(runs)}, {_cost(runs) / 1000:.1f}"


def _plain(runs: RUNS) -> str:
    return f"{_cost(runs) / 1000:.1f}" if runs else ""


def _less(ours: RUNS, theirs: RUNS) -> str:
    """Return the difference in cost, as a share of theirs, with its interval."""
    pairs = [(row["cost"], theirs[seed]["cost"]) for seed, row in ours.items() if seed in theirs]
    difference = mean_of([ours_cost / their_cost - 1 for ours_cost, their_cost in pairs])
    if difference is None:
        return ""
    if len(pairs) < 3:
        return f"{difference['mean']:+.0%}"
    return f"{difference['mean']:+.0%} [{difference['low']:+.0%}, {difference['high']:+.0%}]"


TABLES = {
    policies: ("predictive",),
    peers: ("predictive-peers", "predictive-peers-best"),
    objectives: ("predictive-objectives",),
}
"""With the sweeps that each is made of."""


def summary(table: Table) -> str:
    """Return the first table with one row per load and one column per start."""
    starts = list(dict.fromkeys(row[1] for row in table[1:]))
    lines = [("load", *(f"start {start}" for start in starts)), ("---",) * (len(starts) + 1)]
    for load in dict.fromkeys(row[0] for row in table[1:]):
        cells = {row[1]: _attainment(row) for row in table[1:] if row[0] == load}
        lines.append((load, *(cells.get(start, "") for start in starts)))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _attainment(row: tuple[str, ...]) -> str:
    ours, theirs = (cell.split(", ")[0].replace(" of ", "/") for cell in row[2:4])
    return f"{ours}, {theirs}, {row[4].split(' [')[0]}"


def main(sweeps: Path) -> None:
    """Write the CSV file of each table whose sweeps exist, and the table of the page."""
    for table, needed in TABLES.items():
        if all(rows(sweeps / sweep) for sweep in needed):
            made = table(sweeps)
            with PAGE.with_name(f"predictive-{table.__name__}.csv").open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(made)
            if table is policies:
                before, rest = PAGE.read_text().split("<!-- policies -->")
                after = rest.split("<!-- end of policies -->")[1]
                text = f"<!-- policies -->\n\n{summary(made)}\n\n<!-- end of policies -->"
                PAGE.write_text(f"{before}{text}{after}")


if __name__ == "__main__":
    typer.run(main)
