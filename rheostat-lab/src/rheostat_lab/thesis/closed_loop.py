"""Step C: the production loop and policies on the fitted plant, measured like in the thesis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rheostat.guards import Bounds
from rheostat.model import Limits
from rheostat.sim.engine import NoJournal, simulate
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.flink.flink_plant import FlinkPlant, Sample
from rheostat_lab.thesis.thesis_runs import (
    FIRST_DECISION_S,
    MAX_EXECUTORS,
    MINUTES,
    START_EXECUTORS,
    Cell,
    load,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One simulated run, with the published values of its cell."""

    query: str
    policy: str
    parameter: str
    seed: int
    latency_s: float
    executors: float
    rescalings: int
    published_latency_s: float
    published_executors: float
    published_rescalings: int
    held_out: bool
    most_executors: int
    largest_jump: float
    """Largest ratio by which the target rose between two samples."""

    def as_row(self) -> dict[str, Any]:
        """Return the row that ``--json`` prints."""
        return asdict(self)


def run_cell(cell: Cell, job: FlinkJob, seed: int) -> FlinkPlant:
    """Return the plant after a run of 140 minutes; the same seed gives all policies the same load,
    noise and starts.
    """
    seconds = MINUTES * 60
    rate = load(cell.query, seed)
    arrivals = [rate.rate_per_s(second + 0.5) for second in range(seconds)]
    plant = FlinkPlant(
        job, arrivals, START_EXECUTORS, np.random.SeedSequence([seed, int(cell.query)])
    )
    guards = (Bounds(Limits.between(1, MAX_EXECUTORS)),)
    times = {"until_s": float(seconds), "start_s": FIRST_DECISION_S, "interval_s": cell.interval_s}
    simulate(plant, cell.make(), guards, journal=NoJournal(), **times)
    plant.finish()
    return plant


def outcome(cell: Cell, samples: Sequence[Sample], seed: int) -> Outcome:
    """Return the thesis' measures of a run: means of the samples, and changes between them."""
    sizes = [sample.executors for sample in samples]
    targets = [sample.observation.target or sample.executors for sample in samples]
    return Outcome(
        query=cell.query,
        policy=cell.policy,
        parameter=cell.parameter,
        seed=seed,
        latency_s=float(np.mean([sample.latency_s for sample in samples])),
        executors=float(np.mean(sizes)),
        rescalings=int(np.count_nonzero(np.diff(sizes))),
        published_latency_s=cell.latency_s,
        published_executors=cell.executors,
        published_rescalings=cell.rescalings,
        held_out=cell.held_out,
        most_executors=max(sizes),
        largest_jump=max(later / earlier for earlier, later in pairwise(targets)),
    )


def run_all(
    cells: Iterable[Cell],
    jobs: dict[str, FlinkJob],
    seeds: Sequence[int],
    processes: int,
    on_outcome: Callable[[], None] = lambda: None,
) -> list[Outcome]:
    """Return the outcomes of all cells and seeds, in that order; call ``on_outcome`` after each."""
    work = [(cell, jobs[cell.query], seed) for cell in cells for seed in seeds]
    return list(_watched(_outcomes(work, processes), on_outcome))


def _outcomes(work: Sequence[tuple[Cell, FlinkJob, int]], processes: int) -> Iterator[Outcome]:
    if processes <= 1:
        yield from map(_one, work)
        return
    with ProcessPoolExecutor(max_workers=processes) as pool:
        yield from pool.map(_one, work, chunksize=5)


def _watched(outcomes: Iterator[Outcome], on_outcome: Callable[[], None]) -> Iterator[Outcome]:
    for outcome in outcomes:
        on_outcome()
        yield outcome


def _one(task: tuple[Cell, FlinkJob, int]) -> Outcome:
    cell, job, seed = task
    return outcome(cell, run_cell(cell, job, seed).samples, seed)
