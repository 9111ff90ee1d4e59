"""Check that the newest entry of CHANGELOG.md has the version of the newest tag.

A tag ``v0.1.0`` is version 0.1.0. Commits after it, or no tag at all, make a development version of
the entry that is in progress.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def newest_entry() -> str:
    """Return the version of the changelog's newest entry."""
    match = re.search(r"^## \[(\d.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    return match[1] if match else "none"


def tag() -> str | None:
    """Return the tag of the current commit; None if it has none."""
    result = subprocess.run(
        ["git", "describe", "--tags", "--exact-match", "--match", "v*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return result.stdout.strip() or None


if tag() not in (None, f"v{newest_entry()}"):
    sys.exit(f"the tag is {tag()}, but the newest entry of CHANGELOG.md is {newest_entry()}")
