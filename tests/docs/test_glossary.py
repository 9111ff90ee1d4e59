"""Pages and identifiers use the glossary's terms.

``dialect.json`` records how often a page still contains a banned phrase, and the code a banned
part of an identifier. These counts may only fall; a page that is not listed contains none.
"""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "concepts" / "glossary.md"
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])
SOURCES = (ROOT / "src", ROOT / "rheostat-lab" / "src")
CEILINGS = json.loads((Path(__file__).parent / "dialect.json").read_text(encoding="utf-8"))
PHRASES = re.compile(
    r"\bwhat waits\b|\bfor whom\b|\bSpark as it is\b|\bsaid in one line\b|\btold the peak\b"
    r"|\basks nobody\b|\bwhoever else\b|\bwho else\b|\bwho (?:comes|asks|writes)\b|\bnot told\b"
    r"|\b(?:is|are|was|were|be|been) (?:told|said)\b|\bit tells (?:what|it|the)\b|\bso many\b"
    r"|\bin (?:its|their|his) stead\b|\bas long again\b|\bas much again\b|\bsomebody else\b"
    r"|\bcan(?:not)? be had\b|\bhad again\b|\banew\b|\bmay be late\b|\bown story\b"
    r"|\b(?:steward|keeper|desk|errands?|roster|leash|census|rehears\w+)\b",
    re.IGNORECASE,
)
"""The project's former dialect, as far as a pattern can distinguish it from ordinary English."""
PARTS = frozenset(
    re.findall(
        r"\w+",
        """told tells telling said says seen found asked asks each forth wish wishes wished story
        stories mail mails errand errands fate desk keeper leash heard bearable wary uneasy mostly
        steward roster census rehearsal whole surroundings laboratory""",
    )
)


def prose(page: Path) -> str:
    """Return a page without code, link targets and the glossary's own column of banned words."""
    text = page.read_text(encoding="utf-8")
    if page == GLOSSARY:
        text = re.sub(r"\|[^|\n]*\|$|^Common replacements(?:.|\n)*", "", text, flags=re.MULTILINE)
    return re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)", "", text, flags=re.DOTALL)


def identifiers(tree: ast.AST) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
    return names


def parts(name: str) -> list[str]:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_")


def banned_parts() -> Counter[str]:
    """Count the banned parts of identifiers and file names in the sources."""
    counts: Counter[str] = Counter()
    for path in (path for source in SOURCES for path in source.rglob("*.py")):
        names = [*identifiers(ast.parse(path.read_text(encoding="utf-8"))), path.stem]
        counts.update(part for name in names for part in parts(name) if part in PARTS)
    return counts


def terms() -> list[tuple[str, str]]:
    """Return the glossary's terms with their identifiers."""
    rows = re.findall(
        r"^\| (?!term|-)([^|]+) \| [^|]+ \|([^|]*)\|[^|]*\|$",
        GLOSSARY.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return [(term, code.strip(" `")) for term, code in rows]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_contains_no_more_banned_phrases_than_recorded(page):
    phrases = [match[0] for match in PHRASES.finditer(prose(page))]
    allowed = CEILINGS["pages"].get(page.relative_to(ROOT).as_posix(), 0)
    assert len(phrases) <= allowed, phrases


def test_the_pages_with_a_recorded_count_exist():
    assert [page for page in CEILINGS["pages"] if not (ROOT / page).exists()] == []


def test_identifiers_contain_no_more_banned_parts_than_recorded():
    counts = banned_parts()
    assert counts.total() <= CEILINGS["identifiers"], counts


def test_a_term_appears_once_in_the_glossary():
    names = [name for term, _ in terms() for name in term.split(", ")]
    assert len(names) > 50
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_glossary_identifiers_exist_in_the_code():
    code = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "src" / "rheostat").rglob("*.py")
    )
    words = set(re.findall(r"\w+", code))
    assert [name for _, name in terms() if name and name not in words] == []
