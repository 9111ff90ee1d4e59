"""What a program may know of a run: one JSON object, because standard output is the script's."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from rheostat.cli.output import write_out
from rheostat.journal.folder import read
from rheostat.journal.rescalings import rescalings
from rheostat.local.app_run import Application, Request
from rheostat.model import Limits, Record


def hand_out(
    request: Request,
    applications: Sequence[Application],
    exit_code: int | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Write the report to a file, to standard error, or both; ``exit_code`` None: running."""
    if not (as_json or out):
        return
    text = json.dumps(report(request, applications, exit_code), allow_nan=False)
    if out:
        write_out(out, [text])
    if as_json:
        sys.stderr.write(text + "\n")


def report(
    request: Request, applications: Sequence[Application], exit_code: int | None
) -> dict[str, Any]:
    """Return the run as plain values; nothing of Kafka's configuration is among them."""
    settings = request.settings
    return {
        "script": str(request.script),
        "exit_code": exit_code,
        "policy": settings.policy_name,
        "parameters": dict(settings.parameters),
        "slo_s": settings.slo.latency_s,
        "limits": _limits(settings.limits),
        "shadow": request.shadow,
        "applications": [_application(application) for application in applications],
    }


def _application(application: Application) -> dict[str, Any]:
    records = [
        record for record in read(application.handle.journal) if record.t_s >= application.since_s
    ]
    seconds = executor_seconds(records)
    return {
        "application": application.id,
        "journal": str(application.handle.journal.resolve()),
        "limits": _limits(application.limits),
        "scales": application.handle.capabilities.can_scale,
        "cannot": list(application.handle.capabilities.cannot),
        "decisions": len(records),
        "rescalings": len(rescalings(records)),
        "slot_hours": None if seconds is None else seconds * application.slots_per_executor / 3600,
    }


def executor_seconds(records: Sequence[Record]) -> float | None:
    """Return the integral of the executors over the ticks; None if never counted."""
    intervals = [
        (late.t_s - early.t_s) * early.observation.executors
        for early, late in pairwise(records)
        if early.observation and early.observation.executors is not None
    ]
    return sum(intervals) if intervals else None


def _limits(limits: Limits) -> dict[str, int]:
    return {"min": limits.min_executors, "max": limits.max_executors}
