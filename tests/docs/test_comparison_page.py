"""The page of the comparison says what the rows say, also where that is no praise of our own
policy."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from rheostat.policies.registry import POLICIES
from rheostat.sim.sweep.runner import COMPARED
from rheostat_lab.comparison.compared import compared

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


def test_who_attains_for_less_than_our_own_is_named(script):
    said = script["words"](
        compared([row(OURS, 80_000.0), row("hpa", 70_000.0), row("drs", 1.0, attained=False)])
    )
    assert said.startswith(
        "2 of 3 policies attain the objective on every seed. Cheaper than our own, attaining on"
        " most seeds:"
    )
    assert "`hpa` (1 of 1 seeds), -10.0 thousand" in said
    assert "drs" not in said


def test_our_own_policy_is_called_cheapest_only_among_those_that_attain(script):
    said = script["words"](
        compared([row(OURS, 80_000.0), row("hpa", 90_000.0), row("drs", 1.0, attained=False)])
    )
    assert said.endswith(
        "Among these none is cheaper than `measured-throughput` at its defaults, with 95 %"
        " confidence."
    )


def test_who_is_cheaper_and_attains_on_most_seeds_is_named_too(script):
    theirs = [
        {**row("conttune", 70_000.0), "seed": seed, "attained": seed < 2} for seed in range(3)
    ]
    said = script["words"](
        compared([*({**row(OURS, 80_000.0), "seed": seed} for seed in range(3)), *theirs])
    )
    assert said.startswith(
        "1 of 2 policies attain the objective on every seed. Among these none is cheaper than"
        " `measured-throughput`"
    )
    assert "`conttune` (2 of 3 seeds), -10.0 thousand" in said


def test_it_is_said_where_our_own_policy_misses_the_objective(script):
    said = script["words"](compared([row(OURS, 80_000.0, attained=False), row("hpa", 90_000.0)]))
    assert (
        "**`measured-throughput` does not**: it attains it on 0 of 1 seeds. The cheapest that does:"
        " `hpa`, +10.0 thousand" in said
    )


def test_the_page_has_every_policy_the_bounds_and_how_it_was_made(script):
    rows = [
        row(OURS, 80_000.0),
        row("hpa", 90_000.0),
        row("(clairvoyant bound)", 30_000.0),
        row("(best static)", 99_000.0),
    ]
    told = {
        "rows": rows,
        "summary": compared(rows),
        "loads": {"cosine": "0.2 * cosine"},
        "starts_s": {"cosine": 3.0},
        "trials": 3,
        "non_anticipative": {"cosine": BLIND},
    }
    made = script["page"](told, "it took 3 minutes")
    assert "| **measured-throughput** | 1 of 1 | 80.0 ± 0.0 |  |" in made
    assert "| hpa | 1 of 1 | 90.0 ± 0.0 | 10.0 ± 0.0 |" in made
    assert "| missing (%) | too many (%) |" in made
    assert "| (best static) |  | 99.0 ± 0.0 | 19.0 ± 0.0 |" in made
    assert "not below 30.0. Non-anticipative bound: between 40.0 and 50.0." in made
    assert "--seeds 1 --trials 3" in made
    assert "## cosine, executors that take 3 s" in made
    assert "it took 3 minutes" in made


def test_the_published_page_has_every_policy_on_each_load_and_start_and_its_plots():
    page = (ROOT / "docs" / "evidence" / "comparison.md").read_text(encoding="utf-8")
    assert all(
        len(re.findall(rf"^\| \**{policy}[* ]", page, re.MULTILINE)) == 6 for policy in POLICIES
    )
    plots = re.findall(r"\]\((compare-\w+-start-\d+(?:-zoomed)?\.svg)\)", page)
    assert len(plots) == 12
    assert all((ROOT / "docs" / "evidence" / plot).exists() for plot in plots)
