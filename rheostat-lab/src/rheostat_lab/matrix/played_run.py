"""Reads a finished run from its folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.journal.reading import records
from rheostat.policies.predictive.policy import Predictive
from rheostat_lab.demo.results_folder import JOURNAL, SUMMARY
from rheostat_lab.matrix.batch_prediction import Prediction, prediction
from rheostat_lab.matrix.matrix_spec import Cell

PREDICTS = "predictive"
"""The policy whose batch model is evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRun:
    """The results of a run; None is unknown. ``policy`` includes its parameters."""

    query: str
    load: str
    policy: str
    seed: int
    attained: bool
    share_within_slo: float | None
    latency_p99_s: float | None
    slot_hours: float
    rescalings: int
    failed_tasks: int
    exact: bool
    executors_mean: float | None = None
    latency_mean_s: float | None = None
    prediction: Prediction | None = None


def is_played(folder: Path) -> bool:
    """Return whether a run is finished: its summary is written last."""
    return (folder / SUMMARY).is_file()


def read_run(folder: Path, cell: Cell) -> PlayedRun | None:
    """Return the results in a run's folder; None if the run is not finished. Raises BadInput for an
    unreadable summary or journal.
    """
    if not is_played(folder):
        return None
    path = folder / SUMMARY
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        slo_s = float(summary["slo_s"])
        run = {
            "attained": bool(summary["objective_met"]),
            "share_within_slo": summary["share_within_slo"],
            "latency_p99_s": summary["latency_p99_s"],
            "slot_hours": summary["slot_hours"],
            "executors_mean": summary.get("executors_mean"),
            "latency_mean_s": summary.get("latency_mean_s"),
            "rescalings": summary["rescalings"],
            "failed_tasks": summary["failed_tasks"],
            "exact": summary["exact"],
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not a demo summary: {error}") from None
    if not summary["slot_hours"] > 0:
        # Otherwise it would be the cheapest run of all.
        raise BadInput(f"{path} has no slot-hours: its executors are unknown; play that run again")
    predicted = None
    if cell.policy == PREDICTS:
        kept = [record for _, record in records(folder / JOURNAL)]
        predicted = prediction(kept, Predictive(slo=slo_s))
    return PlayedRun(
        query=cell.query,
        load=cell.load,
        policy=cell.sizing,
        seed=cell.seed,
        **run,
        prediction=predicted,
    )
