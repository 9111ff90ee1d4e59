"""The folder of a demo's results: what is written to it, and what it replaces."""

from __future__ import annotations

import json
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.journal.folder import STOP_FILE, erase
from rheostat.machine.atomic_file import write_atomic
from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.summary import Summary, to_json
from rheostat_lab.services.own_folder import OwnFolder, check_claim, claim

DRIVER_LOG = "driver.log"
"""The output of Spark's driver, kept out of the live view."""

JOURNAL = "journal"
PLOT = "plot.png"
REPORT = "report.html"
SUMMARY = "summary.json"


def check(out: Path) -> None:
    """Raise BadInput for a foreign folder or a kill switch in its journal; changes nothing."""
    check_claim(out, "--out")
    switch = out / JOURNAL / STOP_FILE
    if switch.exists():
        raise BadInput(f"{switch} would stop the autoscaler at once; remove it first")


def cleared(out: Path) -> OwnFolder:
    """Return the folder of the results without those of an earlier demo; foreign files remain.
    Raises as ``check`` does.
    """
    check(out)
    folder = claim(out, "--out")
    # By the journal's own rule: records are erased; a kill switch and foreign files remain.
    erase(folder.ours(JOURNAL))
    folder.remove_files()
    folder.ours(JOURNAL)  # again, because an erased journal is no longer known
    folder.ours(DRIVER_LOG)
    return folder


def publish(run: Run, summary: Summary, folder: OwnFolder) -> None:
    """Write report, plot and summary."""
    from rheostat_lab.report.report import write_report
    from rheostat_lab.report.run_plot import draw_png

    draw_png(run, summary, folder.ours(PLOT))
    write_report(run, summary, folder.ours(REPORT))
    text = json.dumps(to_json(summary), indent=2) + "\n"
    write_atomic(folder.ours(SUMMARY), text)


def format_paths(out: Path) -> str:
    """Return one line with the paths of the results."""
    return (
        f"report: {out / REPORT}   plot: {out / PLOT}   numbers: {out / SUMMARY}   Spark's log:"
        f" {out / DRIVER_LOG}"
    )
