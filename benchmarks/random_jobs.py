"""Measures whether ``predictive`` meets the objective at a low cost on jobs that are drawn at
random.

Each job is also sized by ``predictive`` with the highest future rate configured, by
``measured-throughput``, and by the smallest fixed size that keeps its objective all the time, in
hindsight. Jobs whose objective the maximum size cannot keep are left out.

Run: python benchmarks/random_jobs.py [--first 110000] [--n 200]
"""

from __future__ import annotations

import argparse
import random
import sys
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cache

from rheostat.config import GuardOptions, LoopOptions
from rheostat.guards import guards_of
from rheostat.model import Limits, Slo
from rheostat.policies.registry import create
from rheostat.sim.engine import simulate
from rheostat.sim.measures import measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.text import parse
from rheostat_lab.sweep.sweep_summary import mean_of

MINUTES, WARM_UP_S = 75, 300
KINDS = ("bursts", "cosine", "day", "ramp", "spikes", "steps", "walk")


@dataclass(frozen=True)
class Job:
    """A job to size."""

    seed: int
    kind: str
    load: str
    peak: float
    """The highest future rate."""

    plant: SparkParameters
    slo: Slo
    most: int


@dataclass(frozen=True)
class Sized:
    """The result of one way of sizing a job."""

    attained: bool
    slot_s: float


@dataclass(frozen=True)
class Played:
    """A job, and the result of each way of sizing it."""

    job: Job
    fixed: Sized
    ours: Sized
    informed: Sized
    """``predictive`` with the peak configured."""

    theirs: Sized


def drawn(seed: int) -> Job:
    """Return a job; its peak needs a third to two thirds of the capacity of its maximum size."""
    chance = random.Random(seed)  # noqa: S311
    trigger_s, fixed_s = chance.choice((1, 2, 5, 10, 15, 30)), chance.choice((0.2, 0.5, 1, 2))
    slo_s = max(chance.choice((10, 30, 60)), chance.choice((2, 3)) * (trigger_s + fixed_s))
    slots, most = chance.choice((1, 2, 4)), chance.choice((6, 10, 16, 24))
    tasks, states = chance.choice((16, 24, 32, 48, 96)), chance.choice((0, 16, 24, 48, 64))
    row_s, skew = chance.choice((2e-5, 1e-4, 5e-4)), chance.choice((1, 1, 1.5))
    state_row_s = row_s * chance.choice((0.5, 1, 2))
    plant = SparkParameters(
        executors=most // 2,
        slots_per_executor=slots,
        trigger_s=trigger_s,
        source_partitions=tasks,
        state_partitions=states,
        fixed_s=fixed_s,
        source_row_s=row_s,
        state_row_s=state_row_s,
        source_skew=skew,
        task_noise=chance.choice((0.05, 0.1, 0.2)),
        start_s=chance.choice((3, 5, 10, 20, 30, 60)),
    )
    work_s = (row_s + (state_row_s if states else 0)) * skew
    usable = min(most * slots, tasks, states or tasks)
    peak = chance.uniform(0.35, 0.6) * usable / work_s * (1 - 2 * fixed_s / slo_s)
    kind = chance.choice(KINDS)
    load = load_of(kind, chance.uniform(0.08, 0.35) * peak, peak, seed, chance)
    return Job(seed, kind, load, peak, plant, Slo(latency_s=slo_s), most)


def load_of(kind: str, low: float, peak: float, seed: int, chance: random.Random) -> str:
    """Return a load between two rates, as text."""
    period_s, mean, half = chance.choice((900, 1800, 3600)), (low + peak) / 2, (peak - low) / 2
    quick = chance.choice((2, 8, 30))
    return {
        "bursts": f"bursts:quiet={low},burst={peak},quiet_s={period_s * 2 / 3},"
        f"burst_s={period_s / 6},seed={seed}",
        "cosine": f"cosine:shift={mean},amplitude={0.9 * half},noise={0.1 * half},"
        f"period_s={period_s},seed={seed}",
        "day": f"day:low={low},peak={peak},day_s={period_s},ramp_share=0.12,seed={seed}",
        "ramp": f"ramp:low={low},high={peak},begin_s={period_s / 2},ramp_s={period_s / quick}",
        "spikes": f"constant:rate={low} + spikes:low={half},high={2 * half},seed={seed}",
        "steps": f"steps:levels={low},{peak},{mean},{low},hold_s={period_s / 3}",
        "walk": f"walk:start={mean},down={-0.15 * mean},up={0.15 * mean},ceiling={peak},"
        f"seed={seed}",
    }[kind]


def sized(job: Job, policy: str, **parameters: float) -> Sized:
    """Simulate a job; a fixed size has its executors from the start."""
    plant = replace(job.plant, executors=int(parameters.get("executors", job.plant.executors)))
    run = simulate(
        SparkPlant(plant, parse(job.load), seed=job.seed),
        create(policy, parameters, job.slo),
        guards_of(Limits.between(1, job.most), GuardOptions(), LoopOptions(reversal_hold_s=0)),
        until_s=60 * MINUTES,
        interval_s=5,
    )
    result = measures(run.ledger, job.slo, warm_up_s=WARM_UP_S)
    return Sized(result.attained, result.executor_hours * 3600 * job.plant.slots_per_executor)


def best_fixed(job: Job) -> Sized | None:
    """Return the cheapest fixed size that keeps the objective; None if there is none."""
    fixed = cache(lambda size: sized(job, "fixed", executors=size))
    if not fixed(job.most).attained:
        return None
    sizes = range(1, job.most + 1)
    return fixed(sizes[bisect_left(sizes, True, key=lambda size: fixed(size).attained)])


def report(played: list[Played]) -> list[str]:
    """Return how often both attained the objective, and at which cost, by load and start."""
    groups = {"all": played}
    groups |= {kind: [outcome for outcome in played if outcome.job.kind == kind] for kind in KINDS}
    for start_s in sorted({outcome.job.plant.start_s for outcome in played}):
        same = [outcome for outcome in played if outcome.job.plant.start_s == start_s]
        groups[f"start {start_s:g} s"] = same
    head = ("jobs", "n", "predictive", "with the peak configured", "measured-throughput")
    head += ("predictive vs. measured-throughput", "predictive vs. best fixed")
    head += ("with the peak vs. best fixed",)
    rows = [head, ("---",) * len(head)]
    rows += [(name, *_cells(group)) for name, group in groups.items() if group]
    return [f"| {' | '.join(row)} |" for row in rows]


def _cells(group: list[Played]) -> tuple[str, ...]:
    attained = [outcome for outcome in group if outcome.ours.attained]
    informed = [outcome for outcome in group if outcome.informed.attained]
    both = [outcome for outcome in attained if outcome.theirs.attained]
    return (
        str(len(group)),
        str(len(attained)),
        str(len(informed)),
        str(sum(outcome.theirs.attained for outcome in group)),
        _less([outcome.ours.slot_s / outcome.theirs.slot_s - 1 for outcome in both]),
        _less([outcome.ours.slot_s / outcome.fixed.slot_s - 1 for outcome in attained]),
        _less([outcome.informed.slot_s / outcome.fixed.slot_s - 1 for outcome in informed]),
    )


def _less(shares: list[float]) -> str:
    """Return a mean with its 95 % bootstrap interval."""
    if (mean := mean_of(shares)) is None:
        return "-"
    return f"{mean['mean']:+.0%} [{mean['low']:+.0%}, {mean['high']:+.0%}]"


def main(arguments: list[str] | None = None) -> None:
    """Simulate jobs and print the table, then the seeds on which one policy alone failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--first", type=int, default=110_000, help="seed of the first job")
    parser.add_argument("--n", type=int, default=200, help="jobs drawn")
    given = parser.parse_args(arguments)
    played, infeasible = [], 0
    for seed in range(given.first, given.first + given.n):
        job = drawn(seed)
        if (fixed := best_fixed(job)) is None:
            infeasible += 1
            continue
        ours, informed = sized(job, "predictive"), sized(job, "predictive", peak=job.peak)
        played.append(Played(job, fixed, ours, informed, sized(job, "measured-throughput")))
    alone = [
        outcome.job.seed
        for outcome in played
        if outcome.theirs.attained and not outcome.ours.attained
    ]
    lines = report(played)
    lines.append(f"left out: {infeasible}; seeds that measured-throughput attained alone: {alone}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
