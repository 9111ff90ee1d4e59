"""The walks of ``walk.md`` go through existing functions, each called from the previous file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "concepts" / "walk.md").read_text("utf-8")
STEP = re.compile(r"^\d+\. `(?P<file>\S+\.py)`, `(?P<function>\w+)`", re.MULTILINE)
MOST_FILES = {"A decision": 6, "The objective": 8}
RETURNED_TO = {("policies/rules/spark_batch_ratio.py", "decide")}
"""Called by the loop, with the policy that the settings have created."""


def walks() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the files and functions of every numbered list, with its section."""
    return [
        (section.partition("\n")[0], [(step["file"], step["function"]) for step in steps])
        for section in PAGE.split("\n## ")[1:]
        for block in section.split("\n\n")
        if (steps := list(STEP.finditer(block)))
    ]


def functions(file: str) -> dict[str, str]:
    """Return the source of each function of a file by name."""
    text = (ROOT / "src" / "rheostat" / file).read_text("utf-8")
    sources: dict[str, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):  # classes may have methods of the same name
            source = ast.get_source_segment(text, node) or ""
            sources[node.name] = f"{sources.get(node.name, '')}\n{source}"
    return sources


def test_both_walks_exist() -> None:
    assert [section for section, _ in walks()] == ["A decision", "The objective", "The objective"]


@pytest.mark.parametrize(("section", "steps"), walks())
def test_a_walk_is_short_and_every_step_is_called_by_an_earlier_one(
    section: str, steps: list[tuple[str, str]]
) -> None:
    assert len({file for file, _ in steps}) <= MOST_FILES[section]
    above = ""
    for number, (file, function) in enumerate(steps):
        sources = functions(file)
        assert function in sources, f"{file} has no function {function}"
        if number and (file, function) not in RETURNED_TO:
            assert re.search(rf"\b{function}\b\(", above), f"nothing above calls {function}"
        above += "\n".join(sources.values())
