"""Everything that the documents name exists, and everything that exists is named."""

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from rheostat.model import Limits, Slo

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rheostat"
LAB = ROOT / "rheostat-lab" / "src" / "rheostat_lab"
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_architecture_describes_exactly_the_existing_folders():
    described = re.findall(r"^\*\*`(\w+)/`\*\*", text("ARCHITECTURE.md"), re.MULTILINE)
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(described) == sorted(folders)


def test_files_named_in_the_architecture_exist():
    names = {
        name
        for name in re.findall(r"`((?:\w+/)*\w+\.py)`", text("ARCHITECTURE.md"))
        if "NAME" not in name
    }
    assert names
    places = (PACKAGE, LAB, LAB.parent)
    assert [name for name in names if not any(list(place.rglob(name)) for place in places)] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_targets_named_in_a_document_exist(document):
    named = set(
        re.findall(r"(?:^ +|`)make (?:\w+=\S+ )?([a-z][a-z-]*)", text(document), re.MULTILINE)
    )
    targets = set(re.findall(r"^([a-z][a-z-]*):", text("Makefile"), re.MULTILINE))
    assert named <= targets


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_to_files_resolve(document):
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text(document))
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_example_uses_valid_settings():
    blocks = re.findall(r"```python\n(.*?)```", text("README.md"), re.DOTALL)
    example = dedent(next(block for block in blocks if "rheostat.attach(" in block))
    given: dict[str, Any] = {}
    call = example[example.index("rheostat.attach(") : example.index("\n)") + 2]
    exec(
        call,
        {
            "rheostat": type(
                "Rheostat", (), {"attach": lambda spark, **settings: given.update(settings)}
            ),
            "spark": None,
        },
    )
    assert set(given) == {"slo", "limits", "kafka"}
    assert Slo(latency_s=given["slo"])
    assert Limits(min_executors=given["limits"][0], max_executors=given["limits"][1])


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("size kept: arrival rate or executors are unknown", "policies/predictive/policy.py"),
        ("the number of executors is not known yet", "loop.py"),
        ("state partitions cannot use", "protocols/executors/status_text.py"),
    ],
)
def test_the_lines_of_troubleshooting_exist_in_the_code(line, source):
    assert line in text("docs/operate/troubleshooting.md")
    assert line in (PACKAGE / source).read_text(encoding="utf-8")


def test_no_page_installs_from_an_index_without_the_package():
    assert "Rheostat is not on the package index yet" in text("docs/start/install.md")
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = re.compile(r"pip install [^`\n]*\brheostat\b")
    assert [page.name for page in pages if named.search(page.read_text(encoding="utf-8"))] == []


def test_lock_files_name_no_host():
    locks = sorted((ROOT / "requirements").glob("lock*.txt"))
    assert len(locks) == 5
    assert [
        lock.name
        for lock in locks
        if re.search(r"https?:|index-url|find-links", lock.read_text(encoding="utf-8"))
    ] == []
