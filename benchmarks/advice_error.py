"""Compares answers from an event log with those from the journal of the same run.

    export PYSPARK_SUBMIT_ARGS="--conf spark.eventLog.enabled=true \\
        --conf spark.eventLog.dir=file:///tmp/one/events pyspark-shell"
    rheostat demo --out /tmp/one/demo
    python benchmarks/advice_error.py /tmp/one

Each folder has ``events`` with one event log and ``demo/journal``. A CSV line is printed for each
of the two recordings: the recorded run, the fitted job at the recorded sizes, and the cost of
``predictive`` and of a fixed size. The folder of a demo with ``--policy fixed --set executors=3
--min 3 --max 4`` contains the recorded result that the predictions are compared with.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

from rheostat.model import Limits, Slo
from rheostat.replay import recording
from rheostat.sim.fitting.counterfactual import Answer, Question, whatif
from rheostat.sim.fitting.recorded_run import Recorded, recorded

INTERVAL_S = 5.0
COLUMNS = (
    "run",
    "source",
    "batches",
    "trigger_s",
    "start_s",
    "recorded_slot_hours",
    "recorded_late",
    "as_recorded_late",
    "predictive_slot_hours",
    "predictive_late",
    "fixed_slot_hours",
    "fixed_late",
    "batch_error",
)


def answer(run: Recorded, slo_s: float, policy: str, limits: Limits, **given: Any) -> Answer:
    """Return what a policy would have cost."""
    slo = Slo(latency_s=slo_s)
    question = Question(
        policy=policy, parameters=given, limits=limits, slo=slo, interval_s=INTERVAL_S
    )
    return whatif(run, question)


def row(folder: Path, source: str, path: Path, slo_s: float, executors: int) -> dict[str, Any]:
    """Return a line of the table."""
    from rheostat.sim.fitting.batch_fit import start_s

    run = recorded(recording.read(path))
    most = Limits.between(1, max(size for _, size in run.sizes))
    policy = answer(run, slo_s, "predictive", most)
    fixed = answer(run, slo_s, "fixed", Limits.between(executors, executors), executors=executors)
    values: dict[str, float | None] = {
        "batches": len(run.batches),
        "trigger_s": run.trigger_s,
        "start_s": start_s(run),
        "recorded_slot_hours": policy.recorded.slot_hours,
        "recorded_late": policy.recorded.late_share,
        "as_recorded_late": policy.simulated_as_recorded.late_share,
        "predictive_slot_hours": policy.simulated_with_policy.slot_hours,
        "predictive_late": policy.simulated_with_policy.late_share,
        "fixed_slot_hours": fixed.simulated_with_policy.slot_hours,
        "fixed_late": fixed.simulated_with_policy.late_share,
        "batch_error": policy.error.batch_s_median,
    }
    rounded = {name: None if value is None else round(value, 4) for name, value in values.items()}
    return {"run": folder.name, "source": source, **rounded}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--slo", type=float, default=10.0)
    parser.add_argument("--executors", type=int, default=3)
    given = parser.parse_args()
    table = csv.DictWriter(sys.stdout, COLUMNS)
    table.writeheader()
    for folder in given.folders:
        (log,) = (folder / "events").iterdir()
        for source, path in (("journal", folder / "demo" / "journal"), ("event log", log)):
            table.writerow(row(folder, source, path, given.slo, given.executors))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
