"""Repeats each real run in simulation, on a plant calibrated on another run of its query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from rheostat.errors import BadInput
from rheostat.guards import guards_of
from rheostat.policies.registry import create
from rheostat.replay.validate import Moment
from rheostat.sim.engine import NoJournal, simulate
from rheostat.sim.fitting.batch_fit import fit
from rheostat.sim.fitting.recorded_run import Recorded, recorded
from rheostat.sim.measures import Measures, measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.demo.demo_options import DYNAMIC_ALLOCATION
from rheostat_lab.matrix.kept_run import observations
from rheostat_lab.matrix.matrix_spec import Cell, MatrixSpec
from rheostat_lab.matrix.played_run import PlayedRun
from rheostat_lab.matrix.policy_table import row

MEASURES = ("latency_mean_s", "executors_mean", "rescalings")
"""The three measures of the source document, named as in ``PlayedRun`` and in ``Measures``."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A real run and its measures in simulation."""

    run: PlayedRun
    measures: Measures

    def pair(self, name: str) -> tuple[float, float] | None:
        """Return (measured, simulated) of one of ``MEASURES``; None if one is unknown."""
        measured, simulated = getattr(self.run, name), getattr(self.measures, name)
        return None if measured is None or simulated is None else (measured, simulated)


def simulated_runs(
    spec: MatrixSpec, files: Mapping[str, Path], runs: Mapping[str, PlayedRun]
) -> list[Simulated]:
    """Return the runs of a specification that a simulation can repeat, given by name.

    The plant of a run is calibrated on the other run of its query and load whose recording has the
    most sizes. Runs without such a recording are omitted, and so are those sized by Spark's dynamic
    allocation, which is not a policy of the simulation.
    """
    played = [cell for cell in spec.cells() if cell.name in runs]
    recordings = {cell.name: _recorded(files[cell.name]) for cell in played}
    plants: dict[str, SparkParameters] = {}
    results = []
    for cell in played:
        known = {
            other.name: other_run
            for other in played
            if (other.query, other.load) == (cell.query, cell.load)
            and other != cell
            and (other_run := recordings[other.name])
        }
        if known and cell.policy != DYNAMIC_ALLOCATION:
            widest = max(known, key=lambda name: len({size for _, size in known[name].sizes}))
            if widest not in plants:
                # The speed of the other run's machine at its time is not a property of the job.
                plants[widest] = fit(known[widest], known[widest].batches).parameters
            results.append(Simulated(runs[cell.name], _simulate(spec, cell, plants[widest])))
    return results


def simulation_rows(simulated: Sequence[Simulated]) -> list[list[str]]:
    """Return a head and one row per run: each measure as measured and in simulation."""
    names = [f"{name}, {kind}" for name in MEASURES for kind in ("measured", "simulated")]
    rows = [["query", "policy", "seed", *names]]
    for one in simulated:
        pairs = [one.pair(name) for name in MEASURES]
        values = [f"{value:.3g}" for pair in pairs for value in pair or (math.nan, math.nan)]
        rows.append([one.run.query, one.run.policy, str(one.run.seed), *values])
    return rows


def simulation_table(simulated: Sequence[Simulated]) -> list[str]:
    """Return one row per query and measure: the relative error, and whether the ranks agree.

    Errors are relative to the measured value, those of rescalings are absolute. The rank
    correlation is Spearman's over the runs of the query, and is omitted for fewer than three.
    """
    lines = []
    for query in dict.fromkeys(one.run.query for one in simulated):
        for name in MEASURES:
            pairs = [one.pair(name) for one in simulated if one.run.query == query]
            cells = _cells(name, [pair for pair in pairs if pair is not None])
            lines.append(row(query, f"`{name}`", *cells))
    head = ("query", "measure", "runs", "error, median", "error, most", "rank correlation")
    return [row(*head), row(*["---"] * len(head)), *lines] if lines else []


def _cells(name: str, pairs: Sequence[tuple[float, float]]) -> list[str]:
    if not pairs:
        return ["0", "-", "-", "-"]
    if name == "rescalings":
        errors = [abs(simulated - measured) for measured, simulated in pairs]
        texts = [f"{median(errors):.1f}", f"{max(errors):.0f}"]
    else:
        errors = [abs(simulated / measured - 1) for measured, simulated in pairs]
        texts = [f"{median(errors):.0%}", f"{max(errors):.0%}"]
    return [str(len(pairs)), *texts, rank_correlation(pairs)]


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> str:
    """Return Spearman's rank correlation; "-" for fewer than three pairs or equal values."""
    from scipy.stats import spearmanr

    if len(pairs) < 3 or any(len({pair[i] for pair in pairs}) == 1 for i in (0, 1)):
        return "-"
    return f"{float(spearmanr(*zip(*pairs, strict=True)).statistic):.2f}"


def _recorded(path: Path) -> Recorded | None:
    """Return a run as input of the fit; None if its recording is too short."""
    try:
        return recorded({None: [Moment(path.name, now) for now in observations(path)]})
    except BadInput:
        return None


def _simulate(spec: MatrixSpec, cell: Cell, plant: SparkParameters) -> Measures:
    demo = spec.demo(cell, Path())
    first = max(demo.min_executors, demo.start or 1)
    run = simulate(
        SparkPlant(replace(plant, executors=first), demo.load, seed=cell.seed),
        create(demo.policy, demo.policy_parameters, demo.slo),
        guards_of(demo.limits, demo.guards, demo.loop),
        until_s=demo.total_s,
        interval_s=demo.interval_s,
        journal=NoJournal(),
    )
    return measures(run.ledger, demo.slo, warm_up_s=demo.warm_up_s)
