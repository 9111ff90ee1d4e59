"""``rheostat run --actuator restart``: the supervisor, and the same command again as the job it
starts.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rheostat.errors import BadInput
from rheostat.machine.orderly_end import orderly_end

if TYPE_CHECKING:
    from rheostat.cli.run.run_options import OutputOptions
    from rheostat.config import RestartOptions
    from rheostat.local.app_run import Request


def run_supervised(
    request: Request, arguments: list[str], restarts: RestartOptions, output: OutputOptions
) -> int:
    """Supervise the job, or be the job where a supervisor has started this process; raises BadInput
    for what restarts exclude.
    """
    from rheostat.journal.control_channel import VARIABLE

    # Out of the environment, so that what the script starts is not taken for a supervised job.
    folder = os.environ.pop(VARIABLE, None)
    if folder:
        return _job(request, arguments, output, Path(folder))
    return _supervisor(request, restarts)


def _supervisor(request: Request, restarts: RestartOptions) -> int:
    from rheostat.local.app_run import plan
    from rheostat.restart.supervised import journal_of_script, supervise

    if request.shadow:
        raise BadInput("--shadow and --actuator restart exclude each other")
    journal = request.settings.journal or journal_of_script(request.script)
    if isinstance(journal, str):
        raise BadInput(f"--actuator restart keeps its journal in a local folder, not in {journal}")
    settings = replace(request.settings, journal=journal.resolve())
    initial = plan(replace(request, settings=settings), {}).initial
    with orderly_end():
        return supervise(sys.argv[1:], settings.limits, restarts, journal.resolve(), initial)


def _job(request: Request, arguments: list[str], output: OutputOptions, folder: Path) -> int:
    from rheostat.cli.run.run_report import hand_out
    from rheostat.journal.control_channel import ControlChannel
    from rheostat.local.app_run import AppRun
    from rheostat.spark.launching.launch import run_script
    from rheostat.spark.restarting.job_watch import own_report
    from rheostat.spark.restarting.one_batch import OneBatch

    channel = ControlChannel(folder)
    order = channel.order()
    if order is None:
        raise BadInput(f"{folder} has no order of a supervisor")
    channel.tell(own_report(order.run))
    settings = replace(request.settings, journal=folder.parent, restarts=folder)
    request, batches = (
        replace(request, settings=settings, cli=None, order=order),
        OneBatch(),
    )
    with orderly_end(with_parent=True), ExitStack() as stack:
        if order.once:
            stack.enter_context(batches.installed())
        around = stack.enter_context(AppRun(request, batches))
        code = run_script(request.script, arguments, around)
    hand_out(request, around.applications, code, output.as_json, output.out)
    return code
