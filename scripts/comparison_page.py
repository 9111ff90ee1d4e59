"""Write docs/evidence/comparison.md, comparison.csv and the plots from the output of ``rheostat simulate compare --out FILE``.

python scripts/comparison_page.py FILE "DURATION"            copies the plots in the folder of FILE
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rheostat_lab.comparison.compared import described  # noqa: E402
from rheostat_lab.comparison.spark_comparison import GRIDS, OURS, candidates  # noqa: E402

DOCS = ROOT / "docs" / "evidence"
SPEC = ("accuracy_under", "accuracy_over")
HEAD = """# Comparison of all policies in simulation

**Claim.** The cheapest policy that attains the SLO on every seed depends on the load and on how long executors take to start: {claim}.
"""
BODY = """
**Command.** Results of November 2026: {took}.

    rheostat simulate compare --seeds {seeds} --trials {trials} --out compare.json
    python scripts/comparison_page.py compare.json "DURATION"

**Method.** All registered policies rescale the default simulated Spark job with state ([simulator](../concepts/simulator.md)): triggers of 10 s, 1 to 16 executors, 8 at the start,
CPU observed as 0.9 of busy, 140 minutes, a decision every 15 s, {seeds} seeds. Loads: {loads}.
An executor starts {starts} s after its request, with a spread of 20 % and half a second per concurrent start (measured: 3 s on Standalone, 5 to 60 s on YARN and Kubernetes).

SLO: 99 % of the rows within 30 s over the run and 90 % in every five minutes, without the first five minutes. Cost: slot-seconds, plus 30 per rescale, in thousands.
`{ours}` runs at its defaults; every other policy runs with the best of its defaults and a small grid ({tried} sets in all), chosen per load and start on {trials} other seed(s): most often attained, then cheapest.
[Bounds](../concepts/bounds.md): the best fixed size in hindsight, and the clairvoyant optimum. [comparison.csv](comparison.csv) has every policy with its parameters, latency, executors, rescales, SPEC accuracy and score; means and half widths of the 95 % bootstrap interval.

{table}

"""
TAIL = """
![All policies on the cosine, executors that start in 3 s](compare-cosine-start-3.svg)

Hollow points missed the SLO on some seed.

## Limits

* The plant is not calibrated to a real job: read the direction of an effect, not its size. It has one query and no failures.
* Two loads. State is small; with gigabytes the ranking changes ([open questions](open-questions.md)).
* Policies designed for other engines read signals that behave differently in a micro-batch job. A low rank here does not transfer to those engines.
* Parameters are the best of those tried. `predictive` decides every 15 s here, every 5 s on [its own page](predictive.md).
"""
COLUMNS = (
    "attained",
    "cost",
    "difference",
    "latency_mean_s",
    "latency_p99_s",
    "late_s",
    "executors_mean",
    "rescalings",
    *SPEC,
    "score",
)


def page(comparison: Mapping[str, Any], took: str) -> str:
    """Return the page of a comparison."""
    seeds = 1 + max(row["seed"] for row in comparison["rows"])
    texts = dict.fromkeys(comparison["loads"].values())
    tried = sum(len(candidates(policy)) for policy in GRIDS)
    lines = [
        "| load, start | attained on all seeds | cheapest that attains |"
        f" `{OURS}` | clairvoyant, best fixed size | plots |",
        "|" + "---|" * 6,
    ]
    for load in comparison["loads"]:
        entries = [entry for entry in comparison["summary"] if entry["load"] == load]
        lines.append(summary_row(load, entries, comparison["starts_s"][load]))
    claim = Counter(line.split("|")[3].split()[0] for line in lines[2:]).most_common()
    body = BODY.format(
        seeds=seeds,
        trials=comparison["trials"],
        took=took,
        loads="; ".join(f"`{text}`" for text in texts),
        ours=OURS,
        tried=tried,
        starts=", ".join(
            f"{start_s:g}" for start_s in sorted(set(comparison["starts_s"].values()))
        ),
        table="\n".join(lines),
    )
    head = HEAD.format(
        claim=", ".join(f"{name} in {n} of {len(lines) - 2} cases" for name, n in claim)
    )
    return f"{head}{body.rstrip()}\n{TAIL}"


def summary_row(load: str, entries: Sequence[Mapping[str, Any]], start_s: float) -> str:
    """Return the row of one load and start: the policies that attain the SLO, the cheapest, and
    bounds.
    """
    policies = [entry for entry in entries if not entry["policy"].startswith("(")]
    kept = sorted(
        (entry for entry in policies if entry["attained"] == 1),
        key=lambda entry: entry["cost"]["mean"],
    )
    ours = next(entry for entry in policies if entry["policy"] == OURS)
    bounds = ", ".join(
        f"{entry['cost']['mean'] / 1000:.1f}"
        for name in ("(clairvoyant)", "(best static)")
        for entry in entries
        if entry["policy"] == name
    )
    cells = [
        f"{load.split('-')[0]}, {start_s:g} s",
        f"{len(kept)} of {len(policies)}",
        f"`{kept[0]['policy']}` {kept[0]['cost']['mean'] / 1000:.1f}" if kept else "none",
        f"{ours['cost']['mean'] / 1000:.1f}, {_seeds(ours)}",
        bounds,
        f"[all](compare-{load}.svg), [zoomed](compare-{load}-zoomed.svg)",
    ]
    return "| " + " | ".join(cells) + " |"


def table(comparison: Mapping[str, Any]) -> str:
    """Return all rows of a comparison as CSV; costs in 1,000 slot-seconds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["load", "start_s", "policy", *COLUMNS])
    for load in comparison["loads"]:
        writer.writerows(
            [load.split("-")[0], f"{comparison['starts_s'][load]:g}", *_cells(entry)]
            for entry in comparison["summary"]
            if entry["load"] == load
        )
        bound = comparison["non_anticipative"][load]
        most = f"{bound['policy']['cost'] / 1000:.1f}" if bound["policy"] else "unknown"
        between = f"{bound['lower'] / 1000:.1f} to {most}"
        place = [load.split("-")[0], f"{comparison['starts_s'][load]:g}"]
        writer.writerow([*place, "(non-anticipative bound)", "", between])
    return text.getvalue()


def _seeds(entry: Mapping[str, Any]) -> str:
    return f"{round(entry['attained'] * entry['seeds'])} of {entry['seeds']}"


def _cells(entry: Mapping[str, Any]) -> list[str]:
    numbers = [_cell(entry[name]) for name in COLUMNS[3:-1]]
    return [
        described(entry),
        "" if entry["policy"].startswith("(") else _seeds(entry),
        _cell(entry["cost"], 1000),
        "" if entry["policy"] == OURS else _cell(entry["against"]["cost"], 1000),
        *numbers,
        _cell(entry["score"], digits=2) if entry["attained"] == 1 else "",
    ]


def _cell(mean: Mapping[str, float] | None, unit: float = 1, digits: int = 1) -> str:
    if mean is None:
        return ""
    return (
        f"{mean['mean'] / unit:.{digits}f} ± {(mean['high'] - mean['low']) / 2 / unit:.{digits}f}"
    )


def main(file: Path, duration: str) -> None:
    """Write the page and copy the plots in the folder of FILE; DURATION is how long it took."""
    comparison = json.loads(file.read_text(encoding="utf-8"))
    (DOCS / "comparison.md").write_text(page(comparison, duration), encoding="utf-8")
    (DOCS / "comparison.csv").write_text(table(comparison), encoding="utf-8")
    for plot in file.parent.glob("compare-*.svg"):
        shutil.copy(plot, DOCS / plot.name)


if __name__ == "__main__":
    typer.run(main)
