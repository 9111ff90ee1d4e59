"""Assembles all commands and maps errors to exit codes.

Other distributions add commands through the entry-point group ``rheostat.commands``: an entry point
``GROUP.NAME`` (or ``NAME`` for a top-level command) refers to a function that Typer accepts.
``rheostat-lab`` adds ``demo`` and the groups of ``LAB_GROUPS``; without it, these names answer with
the package to install.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any

import typer

import rheostat
from rheostat.errors import BadInput, RheostatError
from rheostat.machine.missing_module import Installation, advice

COMMANDS = {
    "run": "run:run",
    "restart": "restart:restart",
    "advise": "recordings.advise:advise",
    "replay": "recordings.replay:replay",
    "policies": "policies:policies",
    "status": "status:status",
    "explain": "explain:explain",
    "savings": "savings:savings",
    "halt": "halt:halt",
    "resume": "halt:resume",
    "doctor": "doctor:doctor",
    "calibrate": "recordings.whatif:calibrate",
    "whatif": "recordings.whatif:whatif",
    "serve": "serve:serve",
    "top": "serve:top",
    "connect-server": "connect_server:connect_server",
}
"""The function of each command, in the order of the help."""

GROUPS = {"operator": "operator:app", "state": "state:app"}
"""The Typer application of each group of commands."""

GROUP = "rheostat.commands"
LAB_GROUPS = {
    "cluster": "A cluster on this computer, loopback only: Spark Standalone, YARN or Kubernetes.",
    "kafka": "A real Kafka broker on this computer: one node, KRaft, loopback only.",
    "simulate": "Policies on simulated jobs: the production loop, unchanged, against a plant.",
    "lab": "Measurements on real Spark, from specifications.",
    "nexmark": "The benchmark's events and queries.",
}
"""The help of each group that consists of extensions only."""

OF_LAB = ("demo", *LAB_GROUPS)
"""The commands and groups of ``rheostat-lab``."""

_ANY_ARGUMENTS = {"ignore_unknown_options": True, "allow_extra_args": True}


def application(only: str = "") -> typer.Typer:
    """Return the command line, or for faster imports only the command or group ``only``."""
    app = typer.Typer(
        name="rheostat",
        help=(
            "Autoscales running PySpark Structured Streaming jobs live, without a restart, and"
            " explains every decision."
        ),
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    )
    app.callback()(options)
    for name in _matching(COMMANDS, only):
        app.command(name)(_load(COMMANDS[name]))
    for name in _matching(GROUPS, only):
        app.add_typer(_load(GROUPS[name]), name=name)
    if only not in COMMANDS:
        extend(app, installed(only))
        add_missing(app, _matching(OF_LAB, only))
    return app


def _matching(names: Iterable[str], only: str) -> list[str]:
    return [name for name in names if only in ("", name)]


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(f"rheostat.cli.{module}"), name)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rheostat {rheostat.__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Accept the options of the program itself."""


GONE = 141
"""The shell's exit code for a program whose reader has closed the pipe: 128 + SIGPIPE."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0, 1 (the work failed) or 2 (bad input)."""
    _log_to_standard_error()
    first = next(iter(arguments), "")
    try:
        app = application(first if first in (*COMMANDS, *GROUPS, *OF_LAB) else "")
        code = app(list(arguments), prog_name="rheostat", standalone_mode=False)
    except typer.TyperException as error:
        message = error.format_message()
        print(
            message if message.startswith("Usage: ") else f"rheostat: {message}", file=sys.stderr
        )  # a command line without a command prints the help
        return error.exit_code
    except RheostatError as error:
        print(f"rheostat: {error}", file=sys.stderr)
        return error.exit_code
    except ModuleNotFoundError as missing:
        print(f"rheostat: {advice(missing.name or str(missing))}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except SystemExit as ended:
        # Completion and signals use exit codes of their own; typer exits with 1 if the reader of
        # its output, such as head, has closed the pipe.
        return ended.code if isinstance(ended.code, int) and ended.code != 1 else GONE
    return code if isinstance(code, int) else 0


def _log_to_standard_error() -> None:
    """Log only the autoscaler's own lines: the script configures its own logging."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.getLogger("rheostat")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False


def installed(only: str = "") -> list[EntryPoint]:
    """Return the installed entry points, or those of one command or group."""
    return [
        entry
        for entry in entry_points(group=GROUP)
        if only in ("", entry.name, entry.name.rpartition(".")[0])
    ]


def extend(app: typer.Typer, entries: Iterable[EntryPoint]) -> tuple[str, ...]:
    """Add commands to ``app`` and its groups; return the names of those that failed to load."""
    for name, text in LAB_GROUPS.items():
        app.add_typer(typer.Typer(no_args_is_help=True, help=text), name=name)
    parents = {group.name: group.typer_instance for group in app.registered_groups} | {"": app}
    left_out = []
    for entry in entries:
        group, _, name = entry.name.rpartition(".")
        try:
            parent = parents[group]
            if parent and name not in _names(parent):
                parent.command(name)(entry.load())
        except (KeyError, ImportError, AttributeError):
            left_out.append(entry.name)
    empty = {name for name in LAB_GROUPS if (parent := parents[name]) and not _names(parent)}
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
