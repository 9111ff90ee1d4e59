"""Policies that other distributions add, by an entry point of the group ``rheostat.policies``."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

GROUP = "rheostat.policies"


def third_party() -> dict[str, EntryPoint]:
    """Return the entry points of installed distributions, sorted by the policy's name.

    An entry point is named as the policy and has its class: ``per-executor =
    "own_policy:PerExecutor"``. Nothing of theirs is imported before a policy is asked for.
    """
    # Sorted, so that of two distributions with one name always the same one counts.
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP))}


def origin(entry: EntryPoint) -> str:
    """Return the name and version of the distribution that an entry point comes from."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"
