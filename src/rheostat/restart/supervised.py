"""Runs a script under a supervisor, for ``rheostat run --actuator restart``."""

from __future__ import annotations

import fcntl
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rheostat.config import RestartOptions
from rheostat.errors import BadInput
from rheostat.guards.periods import periods_of
from rheostat.journal.control_channel import (
    FOLDER,
    PERSON,
    ControlChannel,
    RestartRequest,
)
from rheostat.journal.folder import STOP_FILE
from rheostat.machine.scratch_folder import state_folder
from rheostat.model import Limits
from rheostat.restart.checkpoint_states import CheckpointStates, require_repartition_support
from rheostat.restart.restart_state import RestartLog, RestartState, restart_text
from rheostat.restart.supervisor import ProcessJob, Supervisor

_log = logging.getLogger("rheostat")

PHASE_TEXTS = {
    "draining": "the queries complete their batches",
    "stopping": "the queries have stopped",
    "finishing": "a planned batch is committed first",
    "repartitioning": "the state is repartitioned",
    "starting": "the script starts",
}
"""The log text of each phase."""


def supervise(
    arguments: Sequence[str],
    limits: Limits,
    options: RestartOptions,
    journal: Path,
    initial: int = 1,
) -> int:
    """Run ``rheostat`` with ``arguments`` under a supervisor, which continues where an earlier one
    stopped, and return the job's exit code. ``initial`` is the number of executors at the start.

    Raises BadInput if another supervisor uses the same journal, and if other state partitions are
    requested but the PySpark cannot repartition state.
    """
    periods_of(options.maintenance_window)  # an invalid one is refused before the start
    if options.partitions or options.allow_repartition:
        require_repartition_support()
    channel = ControlChannel(journal / FOLDER)
    with _alone(channel.folder, journal):
        kept = RestartLog(channel.folder)
        state = first_restart_state(kept.last(), limits, options.partitions, initial)
        if options.partitions:
            request = RestartRequest(
                t_s=time.time(), reason="--partitions", partitions=options.partitions
            )
            channel.write_request(PERSON, request)
        _log.info(
            "rheostat: the job is restarted to change its size; its journal is %s; to request"
            " another size: rheostat restart %s --executors N",
            journal,
            journal,
        )
        return Supervisor(
            state=state,
            channel=channel,
            journal=kept,
            job=ProcessJob(arguments, channel),
            states=CheckpointStates(),
            options=options,
            halted=(journal / STOP_FILE).exists,
            on_step=_log_step,
        ).run()


def first_restart_state(
    last: RestartState | None, limits: Limits, partitions: int, initial: int = 1
) -> RestartState:
    """Return the first state: that of a killed supervisor, the size of a job that has ended by
    itself, or the minimum; at least ``initial`` executors, unless a restart was in progress.
    """
    least = max(limits.min_executors, initial)
    if last is None:
        executors = min(least, limits.max_executors)
        return RestartState(executors=executors, partitions=partitions or None)
    if last.phase not in ("running", "ended"):
        least = limits.min_executors
    executors = min(max(last.executors, least), limits.max_executors)
    if last.phase != "ended":
        return replace(last, executors=executors)
    return RestartState(
        executors=executors,
        restarts=last.restarts,
        run=last.run,
        requested_s=last.requested_s,
        partitions=partitions or None,
        checkpoints=last.checkpoints,
        sinks=last.sinks,
    )


def journal_of_script(script: Path) -> Path:
    """Return the default journal of a supervised script, in the user's state folder."""
    return state_folder() / "supervised" / script.resolve().stem


def is_supervised(journal: Path) -> bool:
    """Return whether a supervisor uses this journal now."""
    try:
        with _alone(journal / FOLDER, journal):
            return False
    except BadInput:
        return True


@contextmanager
def _alone(folder: Path, journal: Path) -> Iterator[None]:
    """Hold the lock of a folder, which the system releases when this process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("w")
    except OSError as error:
        raise BadInput(
            f"the journal folder {journal} cannot be created: {error.strerror}"
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(
                f"the job with the journal {journal} has a supervisor already: end that one, or"
                " name another --journal"
            ) from None
        yield


def _log_step(state: RestartState) -> None:
    if state.number and state.phase == "running" and state.down_s is not None:
        _log.info("rheostat: %s", restart_text(state))
    elif state.number and state.phase in PHASE_TEXTS:
        _log.info("rheostat: restart %d: %s", state.number, PHASE_TEXTS[state.phase])
