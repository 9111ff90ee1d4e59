"""The comparison page reports the recorded results, including those against our policy."""

import csv
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from rheostat_lab.comparison.compared import compared
from rheostat_lab.comparison.spark_comparison import STREAMING
from rheostat_lab.sweep.runner import COMPARED

ROOT = Path(__file__).parents[2]
OURS = "measured-throughput"
BLIND = {"lower": 40_000.0, "between": 45_000.0, "policy": {"cost": 50_000.0, "late_share": 0.01}}


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "scripts" / "comparison_page.py"))


def row(policy: str, cost: float, *, attained: bool = True) -> dict[str, Any]:
    place: dict[str, Any] = {
        "plant": "spark",
        "load": "cosine",
        "policy": policy,
        "parameters": "{}",
        "guards": "{}",
    }
    return {**place, "seed": 0, "attained": attained, **dict.fromkeys(COMPARED, 1.0), "cost": cost}


def summary(script: dict[str, Any], *rows: dict[str, Any]) -> str:
    line: str = script["summary_row"]("cosine", compared(rows), 3.0)
    return line


def test_the_cheapest_policy_that_attains_on_every_seed_is_named(script):
    line = summary(
        script, row(OURS, 80_000.0), row("hpa", 70_000.0), row("drs", 1.0, attained=False)
    )
    assert line.startswith("| cosine, 3 s | 2 of 3 | `hpa` 70.0 | 80.0, 1 of 1 |")


def test_our_policy_is_named_cheapest_only_among_those_that_attain(script):
    line = summary(
        script, row(OURS, 80_000.0), row("hpa", 90_000.0), row("drs", 1.0, attained=False)
    )
    assert f"| `{OURS}` 80.0 |" in line


def test_a_policy_that_misses_on_one_seed_is_not_the_cheapest(script):
    theirs = [
        {**row("conttune", 70_000.0), "seed": seed, "attained": seed < 2} for seed in range(3)
    ]
    line = summary(script, *({**row(OURS, 80_000.0), "seed": seed} for seed in range(3)), *theirs)
    assert line.startswith(f"| cosine, 3 s | 1 of 2 | `{OURS}` 80.0 | 80.0, 3 of 3 |")


def test_a_missed_objective_of_our_policy_is_shown(script):
    line = summary(script, row(OURS, 80_000.0, attained=False), row("hpa", 90_000.0))
    assert "| 1 of 2 | `hpa` 90.0 | 80.0, 0 of 1 |" in line


def test_a_case_that_no_policy_attains_is_shown(script):
    assert "| 0 of 1 | none |" in summary(script, row(OURS, 80_000.0, attained=False))


def test_page_and_table_contain_every_policy_the_bounds_and_the_command(script):
    rows = [
        row(OURS, 80_000.0),
        row("hpa", 90_000.0),
        row("(clairvoyant bound)", 30_000.0),
        row("(best static)", 99_000.0),
    ]
    comparison = {
        "rows": rows,
        "summary": compared(rows),
        "loads": {"cosine": "0.2 * cosine"},
        "starts_s": {"cosine": 3.0},
        "trials": 3,
        "non_anticipative": {"cosine": BLIND},
    }
    page = script["page"](comparison, "3 minutes")
    assert f"`{OURS}` in 1 of 1 cases" in page
    assert "--seeds 1 --trials 3" in page
    assert "3 minutes" in page
    lines = script["table"](comparison).splitlines()
    assert "cosine,3,measured-throughput,1 of 1,80.0 ± 0.0,," in "\n".join(lines)
    assert "cosine,3,hpa,1 of 1,90.0 ± 0.0,10.0 ± 0.0," in "\n".join(lines)
    assert "cosine,3,(best static),,99.0 ± 0.0,19.0 ± 0.0," in "\n".join(lines)
    assert "cosine,3,(clairvoyant bound),,30.0 ± 0.0," in "\n".join(lines)
    assert "cosine,3,(non-anticipative bound),,40.0 to 50.0" in lines
    assert len(lines) == 6


def test_the_published_table_and_page_are_complete():
    folder = ROOT / "docs" / "evidence"
    with (folder / "comparison.csv").open(encoding="utf-8", newline="") as file:
        policies = [record["policy"].split(" (")[0] for record in csv.DictReader(file)]
    assert {policy: policies.count(policy) for policy in STREAMING} == dict.fromkeys(STREAMING, 6)
    page = (folder / "comparison.md").read_text(encoding="utf-8")
    plots = set(re.findall(r"\]\((compare-\w+-start-\d+(?:-zoomed)?\.svg)\)", page))
    assert len(plots) == 12
    assert all((folder / plot).exists() for plot in plots)
