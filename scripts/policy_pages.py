"""Write docs/policies: a page and a plot per policy, their index and the table of all parameters,
from the registry and the simulator alone.

    python scripts/policy_pages.py      writes pages, table and plots and removes outdated ones

A plot is redrawn when its series changes; delete it to redraw it for another reason.
"""

from __future__ import annotations

import csv
import sys
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rheostat.cli.policies import Description, Parameter, describe  # noqa: E402
from rheostat.policies.registry import POLICIES  # noqa: E402
from rheostat_lab.comparison.spark_comparison import plain_cell  # noqa: E402
from rheostat_lab.sweep.course_plot import Course, course, digest_in  # noqa: E402

FOLDER = ROOT / "docs" / "policies"
MADE = "<!-- generated: scripts/policy_pages.py -->\n"
PLOTS = """
## The plots

Each plot shows 140 simulated minutes of the [default Spark plant](../concepts/simulator.md) with the policy at its defaults: the cosine of the\
 thesis' query 1 at a fifth of its rows, seed 0, a batch every 10 s, a decision every 15 s, 1 to 16 executors, 8 at the start, and an SLO of\
 30 s (dotted). The latency of a row is drawn at its arrival, and leaving executors count until their batch has ended. The\
 [comparison](../evidence/comparison.md) has the costs of all policies.
"""


def pages() -> dict[str, str]:
    """Return the text of every page and of the table by its file name."""
    described = [describe(name) for name in POLICIES]
    return {
        "README.md": index(described),
        "parameters.csv": parameter_table(described),
        **{f"{policy.name}.md": page(policy) for policy in described},
    }


def index(described: list[Description]) -> str:
    """Return the list of all policies."""
    rows = [
        f"| [{policy.name}]({policy.name}.md) | {_cell(policy.title)} |" for policy in described
    ]
    head = (
        "`rheostat policies` prints this list, `rheostat policies NAME` one policy with its parameters,"
        " which `--set name=value` sets: [parameters.csv](parameters.csv). `rheostat replay query-1_HPA_50 --policy NAME --max 16` [tries it](../guides/replay.md)."
    )
    return "\n".join(
        [
            MADE,
            "# Policies\n",
            head + "\n",
            "| policy | summary |",
            "|---|---|",
            *rows,
            PLOTS,
        ]
    )


def page(policy: Description) -> str:
    """Return the page of one policy."""
    parts = [
        MADE,
        f"# {policy.name}\n",
        f"{policy.summary}\n",
        f"```text\n{policy.formula}\n```\n",
        f"**Source**: {policy.source}\n",
        f"**Fails when** {policy.fails_when}.\n",
        "[Parameters](parameters.csv), [plot](README.md#the-plots)\n",
        f"![Rate, executors and latency]({policy.name}.svg)\n",
    ]
    return "\n".join(parts)


def parameter_table(described: list[Description]) -> str:
    """Return the parameters of all policies as the text of a CSV file."""
    text = StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("policy", "parameter", "default", "unit", "meaning"))
    for policy in described:
        for parameter in policy.parameters:
            rows.writerow((policy.name, *_row(parameter)))
    return text.getvalue()


def _row(parameter: Parameter) -> tuple[str, str, str, str]:
    default = "must be given" if parameter.default is None else str(parameter.default) or "none"
    return parameter.name, default, parameter.unit, parameter.help


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def plots() -> dict[str, Course]:
    """Return the contents of every plot by its file name."""
    return {f"{name}.svg": course(plain_cell(name)) for name in POLICIES}


def write() -> None:
    """Write all pages and the changed plots, and remove those of policies that no longer exist."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    made, shown = pages(), plots()
    for path in FOLDER.glob("*.*"):
        if path.name not in {*made, *shown}:
            path.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    for name, figure in shown.items():
        if digest_in(FOLDER / name) != figure.digest:
            figure.draw(FOLDER / name)


if __name__ == "__main__":
    write()
