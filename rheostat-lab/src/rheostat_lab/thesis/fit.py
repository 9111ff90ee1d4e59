"""Fits the parameters of the thesis' plant: ``python -m rheostat_lab.thesis.fit [FOLDER] [FILE]``.

Only the nine HPA recordings are opened, from FOLDER (default, or empty: the package's). The result
is written to FILE (default: printed).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.thesis.fit_course import Search, fit_course, fit_spreads
from rheostat_lab.thesis.fit_metrics import as_numbers, fit_metrics
from rheostat_lab.thesis.recordings import load_recording
from rheostat_lab.thesis.thesis_runs import QUERIES

COMMAND = "python -m rheostat_lab.thesis.fit"
BUSIEST_FULL: Mapping[str, float] = {"1": 0.8, "3": 0.8}
"""Busy share of the busiest operator at saturation (thesis, section 5.12)."""

_HOSTS = 4
"""Number of nodes of the thesis' cluster (section 4.4)."""

_TASKS_OF_Q11: Mapping[str, Any] = {"chained": 2, "busiest": 1.29}
"""Q11 has two tasks of two operators each.

The rates that the thesis' script for DS2 left in its repository (delftdata/espa-autoscaling,
``ds2/ds2_query_data/flink_rates_query-11.log`` at 810eb38: 8 TaskManagers, "16 instances") give the
busy time of the window operator relative to the mean."""

_TARGETS = (50, 70, 90)
_SINK_OF_Q3 = 0.49

STARTS: Mapping[str, tuple[FlinkJob, ...]] = {
    "1": (
        FlinkJob(
            rate_per_s=82450,
            contention=0.0558,
            coherence=0.00136,
            strain_after_s=300.0,
            cold=0.0613,
            warm_s=75.7,
            restart_s=3.4,
            restart_new_s=1.35,
            checkpoint_pressed_s=2.0,
            base_wait_s=0.874,
        ),
        FlinkJob(
            hosts=_HOSTS,
            rate_per_s=75290,
            contention=0.029,
            coherence=0.00189,
            strain=0.012,
            strain_after_s=76.4,
            cold=0.01,
            warm_s=89.5,
            restart_s=1.1,
            restart_new_s=0.17,
            checkpoint_pressed_s=0.591,
            base_wait_s=0.874,
        ),
        FlinkJob(
            rate_per_s=81620,
            contention=0.0492,
            coherence=0.000965,
            strain=0.0452,
            strain_after_s=63.0,
            cold=0.784,
            warm_s=55.2,
            restart_s=6.58,
            restart_new_s=4.11,
            checkpoint_pressed_s=11.1,
            base_wait_s=0.874,
            shuffled=True,
        ),
    ),
    "3": (
        FlinkJob(
            hosts=_HOSTS,
            rate_per_s=21420,
            contention=0.0403,
            coherence=0.00117,
            strain=0.121,
            strain_after_s=96.0,
            cold=0.241,
            warm_s=76.3,
            restart_s=5.71,
            restart_new_s=10.6,
            checkpoint_pressed_s=0.945,
            base_wait_s=0.675,
            shuffled=True,
            yield_share=_SINK_OF_Q3,
        ),
        FlinkJob(
            rate_per_s=22140,
            contention=0.0426,
            coherence=0.00101,
            strain=0.0371,
            strain_after_s=119.0,
            cold=0.265,
            warm_s=73.7,
            restart_s=6.0,
            restart_new_s=5.3,
            checkpoint_pressed_s=9.7,
            base_wait_s=0.675,
            shuffled=True,
            yield_share=_SINK_OF_Q3,
        ),
        FlinkJob(
            rate_per_s=22030,
            contention=0.0372,
            coherence=0.00104,
            strain=0.0372,
            strain_after_s=43.5,
            cold=0.193,
            warm_s=86.5,
            restart_s=13.9,
            restart_new_s=5.13,
            checkpoint_pressed_s=16.2,
            base_wait_s=0.683,
            yield_share=_SINK_OF_Q3,
        ),
    ),
    "11": (
        FlinkJob(
            hosts=_HOSTS,
            rate_per_s=61240,
            contention=0.103,
            coherence=2.68e-05,
            strain=0.158,
            strain_spread=1.01,
            memory=1.84,
            strain_after_s=185.0,
            cold=0.25,
            warm_s=171.0,
            restart_s=8.14,
            restart_new_s=1.85,
            checkpoint_pressed_s=2.32,
            base_wait_s=0.908,
            shuffled=True,
            **_TASKS_OF_Q11,
        ),
        FlinkJob(
            rate_per_s=84440,
            contention=0.338,
            coherence=1e-05,
            strain=0.127,
            strain_spread=0.994,
            memory=2.77,
            strain_after_s=226.0,
            cold=0.011,
            warm_s=25.5,
            restart_s=6.5,
            restart_new_s=10.0,
            checkpoint_pressed_s=3.0,
            base_wait_s=0.908,
            shuffled=True,
            **_TASKS_OF_Q11,
        ),
        FlinkJob(
            rate_per_s=73210,
            contention=0.182,
            coherence=0.00297,
            strain=0.886,
            strain_after_s=208.0,
            cold=0.52,
            warm_s=120.0,
            restart_s=6.46,
            restart_new_s=2.2,
            checkpoint_pressed_s=16.1,
            base_wait_s=0.908,
            **_TASKS_OF_Q11,
        ),
    ),
}
"""The starting points of the search by structure, the chosen one first.

Structures differ in two questions: whether tasks exchange rows by key, so that the coldest task
limits all, and whether contention begins where TaskManagers share a host or with the second one."""


def fit(
    folder: Path | None = None, queries: Sequence[str] = QUERIES, search: Search | None = None
) -> dict[str, Any]:
    """Return the parameters in the package's format, fitted on HPA 50, 70 and 90 only."""
    fitted = {
        query: [_fit(query, start, folder, search) for start in STARTS[query]] for query in queries
    }
    return {
        "fitted_with": COMMAND,
        "fitted_on": "HPA 50, 70, 90 of each query; the first structure is the chosen one",
        "queries": fitted,
    }


def _fit(query: str, start: FlinkJob, folder: Path | None, search: Search | None) -> dict[str, Any]:
    """Fit metrics, course, metrics and spreads in this order: the metrics follow from the course,
    which hardly depends on the metrics (only by its CPU share).
    """
    recorded = [load_recording(f"query-{query}_HPA_{target}", folder) for target in _TARGETS]
    busiest = BUSIEST_FULL.get(query)
    course, _ = fit_course(fit_metrics(start, recorded, busiest), recorded, search)
    return as_numbers(fit_spreads(fit_metrics(course, recorded, busiest), recorded, search))


def main(arguments: Sequence[str]) -> None:
    """Fit all queries and print or write the parameters."""
    folder = Path(arguments[0]) if arguments and arguments[0] else None
    text = json.dumps(fit(folder), indent=1) + "\n"
    if len(arguments) > 1:
        Path(arguments[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
