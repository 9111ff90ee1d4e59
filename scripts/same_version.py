"""Check that the newest entry of CHANGELOG.md is the version in pyproject.toml."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def first(pattern: str, name: str) -> str:
    """Return the first match of a pattern in a file of the project."""
    found = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else "none"


package, changelog = (
    first(r'^version = "(.+)"', "pyproject.toml"),
    first(r"^## \[(\d.+?)\]", "CHANGELOG.md"),
)
if package != changelog:
    sys.exit(f"pyproject.toml says version {package}, CHANGELOG.md says {changelog}")
