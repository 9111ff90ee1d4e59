"""Promises of ``when-things-die.md`` name tests that exist, and all extras are documented."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "operate" / "when-things-die.md"
TEST = re.compile(r"(tests/\S+\.py)::(test_\w+)")


def promises() -> list[str]:
    """Return the rows of the table without its header."""
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    return rows[1:]


def test_the_page_lists_promises():
    assert len(promises()) >= 11


@pytest.mark.parametrize("row", promises(), ids=lambda row: row.split("|")[1].strip())
def test_a_promise_names_tests_that_exist(row):
    named = TEST.findall(row)
    assert named, "a row of the table names no test"
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert name in functions, f"{path} has no {name}"


def test_every_user_extra_is_on_the_installation_page():
    section = (ROOT / "pyproject.toml").read_text("utf-8").split("[project.optional-dependencies]")
    extras = set(re.findall(r"^(\w+) = \[", section[1].split("\n\n")[0], re.MULTILINE))
    page = (ROOT / "docs" / "start" / "install.md").read_text("utf-8")
    assert {name for name in extras if f"`[{name}]`" not in page} == {"docs", "test"}
