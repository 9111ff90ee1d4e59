"""Commands that other distributions add to the command line, by entry points.

An entry point of the group ``rheostat.commands`` is named ``GROUP.NAME`` (or ``NAME`` for a command
at the top) and names a function that Typer can read. ``rheostat-lab`` adds its commands so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

import typer

GROUP = "rheostat.commands"


def extend(
    groups: Mapping[str, typer.Typer], found: Iterable[EntryPoint] | None = None
) -> tuple[str, ...]:
    """Add the commands of installed distributions to ``groups`` (by name, ``""`` is the top).

    Returns the names of those that could not be added: their group is unknown, or their package
    does not import. One broken extension takes none of the other commands away.
    """
    left_out = []
    for entry in entry_points(group=GROUP) if found is None else found:
        group, _, name = entry.name.rpartition(".")
        try:
            if name not in _names(groups[group]):
                groups[group].command(name)(entry.load())
        except (KeyError, ImportError, AttributeError):
            left_out.append(entry.name)
    return tuple(left_out)


def _names(group: typer.Typer) -> set[str | None]:
    return {command.name for command in group.registered_commands}
