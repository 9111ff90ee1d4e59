"""Third-party policies: those of installed distributions, found by entry points of the group
``rheostat.policies``, and those of a user's module next to a script.
"""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from rheostat.errors import BadInput

GROUP = "rheostat.policies"


def third_party() -> dict[str, EntryPoint]:
    """Return the entry points of installed distributions, sorted by the policy's name.

    An entry point has the policy's name and refers to its class: ``per-executor =
    "own_policy:PerExecutor"``. Nothing is imported before a policy is used.
    """
    # Sorted, so that of two distributions with the same name always the same one is used.
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP))}


def origin(entry: EntryPoint) -> str:
    """Return the name and version of the distribution that an entry point belongs to."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"


def make_importable(policy: str, folder: Path, script: Path | None = None) -> None:
    """Make a policy ``module:Class`` importable from ``folder``; raises BadInput if it is inside
    the script to run, because importing it would run the script.
    """
    if ":" in policy:
        search_first(folder)
        _check_outside(script, policy)


def search_first(folder: Path) -> None:
    """Search a folder for modules before all others."""
    if str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))


def _check_outside(script: Path | None, policy: str) -> None:
    module = policy.partition(":")[0]
    if script is None or "." in module or module in sys.modules:
        return
    spec = find_spec(module) if module else None
    if spec and spec.origin and Path(spec.origin).resolve() == script.resolve():
        raise BadInput(
            f"policy {policy!r} is in the script itself, which would be run to read it; put the"
            " class into a file of its own next to the script"
        )
