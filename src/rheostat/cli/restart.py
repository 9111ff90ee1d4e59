"""``rheostat restart``: lists the restarts of a supervised job, or requests another size."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, emit
from rheostat.errors import BadInput
from rheostat.plural import counted

if TYPE_CHECKING:
    from rheostat.restart.restart_state import RestartState


def restart(
    journal: Annotated[
        Path, typer.Argument(help="The journal of a job that runs with --actuator restart.")
    ],
    executors: Annotated[
        int | None, typer.Option(help="Restart it with this many executors.", min=1)
    ] = None,
    partitions: Annotated[
        int | None,
        typer.Option(help="Repartition its state to this number of partitions.", min=1, max=32_768),
    ] = None,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Restart a supervised job at another size, or (without a size) list its restarts with their
    steps and downtime.

    The limits --min and --max and the pause between restarts apply to the policy's decisions, not
    to manual requests.

    Example: rheostat restart out/journal --executors 4 --partitions 48
    """
    from rheostat.journal.control_channel import FOLDER
    from rheostat.restart.restart_state import RestartLog

    kept = RestartLog(journal / FOLDER)
    last = kept.last()
    if last is None:
        raise BadInput(
            f"{journal} is not the journal of a supervised job: start it with rheostat run"
            " --actuator restart"
        )
    if executors or partitions:
        if partitions:
            _require_state(last)
        _order(journal, executors, partitions)
    restarts = kept.restarts()
    answer = {"now": asdict(last), "restarts": [asdict(restart) for restart in restarts]}
    emit(answer, as_json, out, lambda: _show(restarts, last, bool(executors or partitions)))


def _require_state(last: RestartState) -> None:
    """Raise BadInput if no checkpoint of the job can be repartitioned from this computer."""
    from rheostat.restart.checkpoint_states import CheckpointStates, require_repartition_support

    require_repartition_support()
    if not CheckpointStates().partitions(last.checkpoints):
        known = ", ".join(last.checkpoints) or "it has reported none yet"
        raise BadInput(
            f"no checkpoint of the job is a folder of this computer with state in it ({known})"
        )


def _order(journal: Path, executors: int | None, partitions: int | None) -> None:
    from rheostat.journal.control_channel import FOLDER, PERSON, ControlChannel, RestartRequest
    from rheostat.restart.supervised import is_supervised

    if not is_supervised(journal):
        raise BadInput(
            f"no supervisor runs for the journal {journal}, so the job cannot be restarted"
        )
    size: dict[str, Any] = {"executors": executors, "partitions": partitions}
    ControlChannel(journal / FOLDER).write_request(
        PERSON, RestartRequest(t_s=time.time(), reason="ordered by a user", **size)
    )


def _show(restarts: list[RestartState], last: RestartState, ordered: bool) -> None:
    from rheostat.restart.restart_state import restart_text

    for restart in restarts:
        typer.echo(restart_text(restart))
    if not restarts and not ordered:
        size = counted(last.executors, "executor")
        typer.echo(f"The job was never restarted; it is {last.phase} with {size}.")
    if ordered:
        typer.echo("Restart requested. Run the same command without a size to see its progress.")
