"""A day that was played, as its folder tells it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.journal.reading import records
from rheostat.policies.forecasts.predictive import Predictive
from rheostat_lab.demo.results_folder import JOURNAL, SUMMARY
from rheostat_lab.live.batch_prediction import Prediction, prediction
from rheostat_lab.live.policies_spec import Cell

PREDICTS = "predictive"
"""The policy whose batch model is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedDay:
    """What a day came to; None is unknown."""

    query: str
    policy: str
    seed: int
    attained: bool
    share_within_slo: float | None
    latency_p99_s: float | None
    slot_hours: float
    rescalings: int
    failed_tasks: int
    exact: bool
    prediction: Prediction | None = None


def is_played(folder: Path) -> bool:
    """Tell whether a day has come to its end: the summary is the last that is written."""
    return (folder / SUMMARY).is_file()


def read_day(folder: Path, cell: Cell) -> PlayedDay | None:
    """Return what a day's folder holds; None where it was not played to its end. Raises BadInput
    for a summary or a journal that cannot be read.
    """
    if not is_played(folder):
        return None
    path = folder / SUMMARY
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
        slo_s = float(summary["slo_s"])
        day = {
            "attained": bool(summary["objective_met"]),
            "share_within_slo": summary["share_within_slo"],
            "latency_p99_s": summary["latency_p99_s"],
            "slot_hours": summary["slot_hours"],
            "rescalings": summary["rescalings"],
            "failed_tasks": summary["failed_tasks"],
            "exact": summary["exact"],
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no summary of a demo: {error}") from None
    if not summary["slot_hours"] > 0:
        # It would be the cheapest of all.
        raise BadInput(f"{path} has no slot-hours: its executors are unknown; play that day again")
    predicted = None
    if cell.policy == PREDICTS:
        kept = [record for _, record in records(folder / JOURNAL)]
        predicted = prediction(kept, Predictive(slo=slo_s))
    return PlayedDay(
        query=cell.query, policy=cell.policy, seed=cell.seed, **day, prediction=predicted
    )
