"""All commands together, and how they end."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import rheostat
from rheostat.cli import doctor, explain, halt, lab, policies, restart
from rheostat.cli.demo import demo
from rheostat.cli.extensions import extend
from rheostat.cli.recordings import calibrate, replay, whatif
from rheostat.cli.run import run_app
from rheostat.cli.services import cluster, connect_server, kafka, operator
from rheostat.cli.simulate import simulate
from rheostat.cli.state import state
from rheostat.errors import RheostatError
from rheostat.machine.missing_module import advice

app = typer.Typer(
    name="rheostat",
    help=(
        "Sizes a running PySpark Structured Streaming job: live, without a restart, every decision"
        " explained."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
app.command("run", context_settings={"ignore_unknown_options": False})(run_app.run)
app.command("restart")(restart.restart)
app.command("demo")(demo.demo)
app.command("replay")(replay.replay)
app.command("policies")(policies.policies)
app.command("explain")(explain.explain)
app.command("halt")(halt.halt)
app.command("doctor")(doctor.doctor)
app.command("calibrate")(calibrate.calibrate)
app.command("whatif")(whatif.whatif)
app.command("connect-server")(connect_server.connect_server)
app.add_typer(cluster.app, name="cluster")
app.add_typer(kafka.app, name="kafka")
app.add_typer(operator.app, name="operator")
app.add_typer(simulate.app, name="simulate")
app.add_typer(state.app, name="state")


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"rheostat {rheostat.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_say_version
        ),
    ] = False,
) -> None:
    """Take the options of the program itself."""


left_out = extend({"": app, "simulate": simulate.app, "lab": lab.app})
"""Commands of other distributions that could not be added."""

if lab.app.registered_commands:
    app.add_typer(lab.app, name="lab")


GONE = 141
"""What a shell says of a program whose reader has gone: 128 + SIGPIPE."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0, 1 (the work failed) or 2 (bad input, said in one
    line).
    """
    _log_to_standard_error()
    try:
        code = app(list(arguments), prog_name="rheostat", standalone_mode=False)
    except typer.TyperException as error:
        said = error.format_message()
        print(
            said if said.startswith("Usage: ") else f"rheostat: {said}", file=sys.stderr
        )  # no command at all is answered with help
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
        # Completion and a signal's end have codes of their own; 1 is typer's answer to a reader
        # that has gone, such as head.
        return ended.code if isinstance(ended.code, int) and ended.code != 1 else GONE
    return code if isinstance(code, int) else 0


def _log_to_standard_error() -> None:
    """Let the autoscaler's own lines be seen, and nobody else's: the script that is run keeps its
    own logging.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    log = logging.getLogger("rheostat")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
