"""docs/policies matches the registry and the simulator: it is complete and has nothing else."""

import runpy
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
        == {name.removesuffix(".md") for name in made}
    )


def test_the_pages_match_the_script(made):
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
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
def test_a_page_has_formula_parameters_source_and_weakness(made, policy):
    page, about = made[f"{policy}.md"], POLICIES[policy].about  # type: ignore[attr-defined]
    assert all(text in page for text in (about.formula, about.source, about.fails_when))
    assert all(f"| `{field.name}` | " in page for field in parameters(POLICIES[policy]))
