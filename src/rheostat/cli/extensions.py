"""Commands that other distributions add to the command line through entry points.

An entry point of the group ``rheostat.commands`` is named ``GROUP.NAME`` (or ``NAME`` for a
top-level command) and refers to a function that Typer accepts. ``rheostat-lab`` adds ``demo`` and
the groups of ``GROUPS``; without it, these names answer with the package to install.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

import typer

from rheostat.errors import BadInput
from rheostat.machine.missing_module import Installation

GROUP = "rheostat.commands"
GROUPS = {
    "cluster": "A cluster on this computer, loopback only: Spark Standalone, YARN or Kubernetes.",
    "kafka": "A real Kafka broker on this computer: one node, KRaft, loopback only.",
    "simulate": "Policies on simulated jobs: the production loop, unchanged, against a plant.",
    "lab": "Measurements on real Spark, from specifications.",
    "nexmark": "The benchmark's events and queries.",
}
"""The help of each group that consists of extensions only."""

OF_LAB = ("demo", *GROUPS)
"""The commands and groups of ``rheostat-lab``."""

_ANY_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True}


def installed(only: str = "") -> list[EntryPoint]:
    """Return the installed entry points, or those of one command or group."""
    return [
        entry
        for entry in entry_points(group=GROUP)
        if only in ("", entry.name, entry.name.rpartition(".")[0])
    ]


def extend(app: typer.Typer, entries: Iterable[EntryPoint]) -> tuple[str, ...]:
    """Add commands to ``app`` and its groups; return the names of those that failed to load."""
    for name, text in GROUPS.items():
        app.add_typer(typer.Typer(no_args_is_help=True, help=text), name=name)
    parents = {group.name: group.typer_instance for group in app.registered_groups} | {"": app}
    left_out = []
    for entry in entries:
        group, _, name = entry.name.rpartition(".")
        try:
            if (parent := parents[group]) and name not in _names(parent):
                parent.command(name)(entry.load())
        except (KeyError, ImportError, AttributeError):
            left_out.append(entry.name)
    empty = {name for name in GROUPS if (parent := parents[name]) and not _names(parent)}
    app.registered_groups = [group for group in app.registered_groups if group.name not in empty]
    return tuple(left_out)


def add_missing(app: typer.Typer, names: Iterable[str]) -> None:
    """Add a hidden command for each missing name, which reports the package to install."""
    available = _names(app) | {group.name for group in app.registered_groups}
    for name in names:
        if name not in available:
            context = _ANY_ARGUMENTS
            app.command(name, hidden=True, add_help_option=False, context_settings=context)(_refuse)


def _refuse(context: typer.Context) -> None:
    raise BadInput(f"the command {context.info_name} {Installation.here().lab_advice()}")


def _names(group: typer.Typer) -> set[str | None]:
    return {command.name for command in group.registered_commands}
