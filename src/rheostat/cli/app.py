"""Assembles all commands and maps errors to exit codes."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

import rheostat
from rheostat.cli.extensions import OF_LAB, add_missing, extend, installed
from rheostat.errors import RheostatError

COMMANDS = {
    "run": "run.run_app:run",
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
    "calibrate": "recordings.calibrate:calibrate",
    "whatif": "recordings.whatif:whatif",
    "serve": "services.serve:serve",
    "top": "services.top:top",
    "connect-server": "services.connect_server:connect_server",
}
"""The function of each command, in the order of the help."""

GROUPS = {"operator": "services.operator:app", "state": "state.state:app"}
"""The Typer application of each group of commands."""


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
        from rheostat.machine.missing_module import advice

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
