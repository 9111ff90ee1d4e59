"""``rheostat restart``: what a supervisor has done, and another size for its job at once."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import AsJson, Out, tell
from rheostat.errors import BadInput

if TYPE_CHECKING:
    from rheostat.restart.story import Story


def restart(
    journal: Annotated[
        Path, typer.Argument(help="The journal of a job that runs with --actuator restart.")
    ],
    executors: Annotated[
        int | None, typer.Option(help="Restart it with so many executors.", min=1)
    ] = None,
    partitions: Annotated[
        int | None,
        typer.Option(help="Rescale its state to so many partitions on the way.", min=1, max=32_768),
    ] = None,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Restart a supervised job at another size, or (without a size) tell its restarts, step by
    step, with their downtime.

    The limits of --min and --max and the pause between restarts hold for what the policy decides,
    not for what you order.

    Example: rheostat restart out/journal --executors 4 --partitions 48
    """
    from rheostat.journal.restart_mail import FOLDER
    from rheostat.restart.story_journal import StoryJournal

    kept = StoryJournal(journal / FOLDER)
    last = kept.last()
    if last is None:
        raise BadInput(
            f"{journal} is no journal of a supervised job: start it with rheostat run --actuator"
            " restart"
        )
    if executors or partitions:
        if partitions:
            _require_state(last)
        _order(journal, executors, partitions)
    restarts = kept.restarts()
    told = {"now": asdict(last), "restarts": [asdict(each) for each in restarts]}
    tell(told, as_json, out, lambda: _show(restarts, last, bool(executors or partitions)))


def _require_state(last: Story) -> None:
    """Raise BadInput where no checkpoint of the job can be rescaled from here."""
    from rheostat.restart.checkpoint_states import CheckpointStates, require_rescaling

    require_rescaling()
    if not CheckpointStates().partitions(last.checkpoints):
        known = ", ".join(last.checkpoints) or "it has not told any yet"
        raise BadInput(
            f"no checkpoint of the job is a folder of this computer with state in it ({known})"
        )


def _order(journal: Path, executors: int | None, partitions: int | None) -> None:
    from rheostat.journal.restart_mail import FOLDER, PERSON, Mail, Wish
    from rheostat.restart.supervised import is_supervised

    if not is_supervised(journal):
        raise BadInput(
            f"no supervisor runs for the journal {journal}: nobody would restart the job"
        )
    wish: dict[str, Any] = {"executors": executors, "partitions": partitions}
    Mail(journal / FOLDER).leave(PERSON, Wish(t_s=time.time(), reason="ordered by hand", **wish))


def _show(restarts: list[Story], last: Story, ordered: bool) -> None:
    from rheostat.restart.story import told

    for each in restarts:
        typer.echo(told(each))
    if not restarts and not ordered:
        size = f"{last.executors} executor{'s' * (last.executors != 1)}"
        typer.echo(f"It was never restarted; it is {last.phase} with {size}.")
    if ordered:
        typer.echo("The restart is ordered; the same command without a size tells how far it is.")
