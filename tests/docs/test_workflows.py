"""The workflows call existing targets of the Makefile, for every supported Spark version."""

import re
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
VERSIONS = re.findall(r"^MATRIX += (.*)$", MAKEFILE, re.MULTILINE)[0].split()
TARGETS = {
    *re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE),
    *(f"matrix-{version}" for version in VERSIONS),
}


def jobs(workflow: Path) -> dict[str, dict[str, Any]]:
    text = workflow.read_text(encoding="utf-8")
    return cast("dict[str, dict[str, Any]]", yaml.safe_load(text)["jobs"])


def made(workflow: Path) -> set[str]:
    """Return the make targets that a workflow's steps run, with its matrix expanded."""
    commands = [
        step["run"].replace("${{ matrix.spark }}", str(cell.get("spark", "")))
        for job in jobs(workflow).values()
        for cell in job.get("strategy", {}).get("matrix", {}).get("include", [{}])
        for step in job.get("steps", [])
        if "run" in step
    ]
    return {
        target
        for command in commands
        if command.startswith("make ")
        for target in command.split()[1:]
    }


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_only_existing_make_targets(workflow):
    assert made(workflow) <= TARGETS


def test_required_checks_are_run():
    targets = set().union(*map(made, WORKFLOWS))
    assert {"check", "test", "coverage", "docs", "dist", "thorough"} <= targets


def test_the_matrix_covers_every_spark_version_of_the_makefile():
    assert made(ROOT / ".github" / "workflows" / "matrix.yml") == {
        *(f"matrix-{version}" for version in VERSIONS),
        "matrix-newest",
        "thorough",
    }


def test_every_decision_record_has_number_date_status_and_index_row():
    folder = ROOT / "docs" / "decisions"
    index = (folder / "README.md").read_text(encoding="utf-8")
    records = sorted(folder.glob("0*.md"))
    assert [int(record.name[:4]) for record in records] == list(range(1, len(records) + 1))
    for record in records:
        text = record.read_text(encoding="utf-8")
        date = re.search(r"^\* Date: (\d{4}-\d\d-\d\d)$", text, re.MULTILINE)
        status = re.search(r"^\* Status: (\w+)", text, re.MULTILINE)
        assert date, record.name
        assert status, record.name
        assert f"]({record.name}) | {date[1]} | {status[1]} |" in index
