"""docs/policies matches the registry and the simulator: it is complete and has nothing else."""

import csv
import runpy
from io import StringIO
from pathlib import Path

import pytest

from rheostat.policies.parameters import parameters
from rheostat.policies.registry import POLICIES
from rheostat_lab.sweep.course_plot import digest_in

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "policies"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "scripts" / "policy_pages.py"))


@pytest.fixture(scope="module")
def made(script):
    return script["pages"]()


def test_every_policy_has_a_page_and_every_page_a_policy(made):
    assert (
        {path.stem for path in FOLDER.glob("*.md")}
        == {*POLICIES, "README"}
        == {Path(name).stem for name in made} - {"parameters"}
    )


def test_the_pages_match_the_script(made):
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    stale = sorted(name for name in made if kept.get(name) != made[name])
    assert stale == [], "run: python scripts/policy_pages.py"


def test_every_policy_has_a_small_plot_on_its_page(made):
    plots = {path.stem: path for path in FOLDER.glob("*.svg")}
    assert set(plots) == set(POLICIES)
    assert all(f"({name}.svg)" in made[f"{name}.md"] for name in plots)
    assert max(path.stat().st_size for path in plots.values()) < 40_000


def test_the_plots_match_the_simulation(script):
    stale = sorted(
        name
        for name, shown in script["plots"]().items()
        if digest_in(FOLDER / name) != shown.digest
    )
    assert stale == [], "run: python scripts/policy_pages.py"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_page_has_formula_source_and_weakness(made, policy):
    page, about = made[f"{policy}.md"], POLICIES[policy].about  # type: ignore[attr-defined]
    assert all(text in page for text in (about.formula, about.source, about.fails_when))
    assert "[Parameters](parameters.csv)" in page


def test_the_table_has_every_parameter_of_every_policy_with_its_default_and_meaning(made):
    rows = list(csv.DictReader(StringIO(made["parameters.csv"])))
    assert [(row["policy"], row["parameter"]) for row in rows] == [
        (name, field.name) for name, policy in POLICIES.items() for field in parameters(policy)
    ]
    assert all(row["default"] and row["meaning"] for row in rows)
    assert {(row["policy"], row["parameter"], row["default"], row["unit"]) for row in rows} >= {
        ("predictive", "slo", "10.0", "s"),
        ("fixed", "executors", "0", "executors"),
    }
