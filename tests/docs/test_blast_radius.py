"""The page of private calls is what the code does: one room makes them, each is on the page."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "rheostat"
ROOM = SOURCES / "spark" / "internals"
CALLS = tuple(ROOM.rglob("*.py"))
COMPILED = tuple(ROOM.rglob("*.java"))
"""What the room compiles makes the calls where it runs."""
CODE = "".join(path.read_text(encoding="utf-8") for path in CALLS)
PAGE = (ROOT / "docs" / "operate" / "private-calls.md").read_text(encoding="utf-8")
PRIVATE = re.compile(r"_(jvm|gateway|jsc|jsq|jdf|jsparkSession|jsession|jconf|jwrite|sc)")
CITED = re.compile(r"``([A-Z]\w+(?:\.\w+)+)``")


def test_private_members_of_pyspark_are_touched_in_one_room_only():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.attr}"
        for path in SOURCES.rglob("*.py")
        if path not in CALLS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and PRIVATE.fullmatch(node.attr)
        and ast.unparse(node.value) != "self"
    ]
    assert found == []


def test_the_scan_finds_the_calls_of_the_room():
    attributes = {
        node.attr
        for path in CALLS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    assert {"_jvm", "_jsc", "_jsq", "_gateway"} <= {
        name for name in attributes if PRIVATE.fullmatch(name)
    }


def test_every_call_that_the_code_cites_is_on_the_page():
    cited = CITED.findall(CODE)
    assert len(cited) >= 8
    assert [call for call in cited if call.rsplit(".", 1)[1] not in PAGE] == []


def test_every_call_on_the_page_is_in_the_code():
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    names = [
        match
        for row in rows
        for match in re.findall(r"`[\w.]*?(\w+)(?:\([^`]*\))?`", row)
        if not match.isdigit()
    ]
    code = "".join(
        path.read_text(encoding="utf-8")
        for path in (*CALLS, *COMPILED, SOURCES / "local" / "executor_options.py")
    )
    assert len(names) >= 8
    assert [name for name in names if name not in code] == []
