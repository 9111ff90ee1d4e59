"""The site builds, every link is checked, and the code accepts the commands on its pages."""

from __future__ import annotations

import logging
import re
import shlex
from pathlib import Path
from textwrap import dedent

import pytest
from typer.main import get_command

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
COMMAND = re.compile(r"^(?:    |\t)rheostat (?P<rest>\S.*)$", re.MULTILINE)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
EXAMPLE = re.compile(r"<!-- (examples/\S+) -->\n\n```python\n(.*?)```", re.DOTALL)


def shown() -> list[tuple[str, str]]:
    """Return each command line in a code block, with its page."""
    return [
        (page.name, re.split(r"\s{3,}", match["rest"])[0].strip())
        for page in PAGES
        for match in COMMAND.finditer(page.read_text(encoding="utf-8"))
    ]


def accept(arguments: list[str]) -> None:
    """Parse the words with the command line's own parser, without running anything."""
    from rheostat.cli.app import application

    command = get_command(application())
    path = "rheostat"
    while hasattr(command, "commands") and arguments and arguments[0] in command.commands:
        path, command, arguments = (
            f"{path} {arguments[0]}",
            command.commands[arguments[0]],
            arguments[1:],
        )
    if arguments != ["COMMAND", "--help"] and "--help" not in arguments:
        command.make_context(path, list(arguments))


def test_the_site_builds_and_every_link_resolves(tmp_path, monkeypatch, caplog):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    with caplog.at_level(logging.WARNING, logger="mkdocs"):
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path), strict=False))
    assert [record.getMessage() for record in caplog.records] == []
    assert (tmp_path / "index.html").exists()


def test_pages_show_commands():
    assert len(shown()) > 20


@pytest.mark.parametrize(("page", "line"), shown())
def test_commands_on_the_pages_are_valid(page, line):
    if "[" not in line and "|" not in line:  # these mark a synopsis
        accept(shlex.split(line, comments=True))


@pytest.mark.parametrize("page", [page for page in PAGES if "```python" in page.read_text()])
def test_python_blocks_on_the_pages_run(page):
    for block in PYTHON.findall(page.read_text(encoding="utf-8")):
        code = compile(dedent(block), str(page), "exec")
        if "spark" not in block and "sys.argv" not in block:
            exec(code, {})


def test_no_page_includes_another_file():
    assert [page.name for page in PAGES if "--8<--" in page.read_text(encoding="utf-8")] == []


def test_an_example_block_equals_its_file():
    shown_files = set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name, block in EXAMPLE.findall(text):
            assert block == (ROOT / name).read_text(encoding="utf-8"), page.name
            shown_files.add(name)
    assert len(shown_files) >= 4


def test_the_readme_is_short():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert len(text.split()) <= 750
