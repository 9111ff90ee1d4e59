"""The speed of the simulator: simulated seconds per second of one core, by policy and plant."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rheostat.guards import standard_guards
from rheostat.model import Limits
from rheostat.policies.registry import POLICIES, create
from rheostat.sim.engine import simulate
from rheostat.sim.plant import Plant
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.flink.flink_plant import FlinkPlant
from rheostat_lab.loads.cosine import Cosine

PLANTS = ("spark", "flink")
THRESHOLDS = ("threshold", "spark-batch-ratio", "hpa")
"""The policies that compare a number with a threshold; their speed is that of the simulator."""

_INTERVAL_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """One result; CPU seconds are those of this process, so that other programs have no effect."""

    policy: str
    plant: str
    simulated_s_per_s: float
    simulated_s: float
    cpu_s: float
    decisions: int


def bench(
    policies: Sequence[str] = tuple(POLICIES),
    plants: Sequence[str] = PLANTS,
    simulated_s: float = 28_800.0,
) -> Iterator[Speed]:
    """Yield one row per policy and plant: 10 s batches of 2 stages, 24 partitions, and a decision
    every 60 s by the production loop.
    """
    for name in policies:
        for plant in plants:
            policy = create(name)
            # Created before the clock starts, because it is created once per run, not per decision.
            began_s = time.process_time()
            run = simulate(
                _plant(plant, simulated_s),
                policy,
                standard_guards(Limits.between(1, 16)),
                until_s=simulated_s,
                interval_s=_INTERVAL_S,
            )
            cpu_s = time.process_time() - began_s
            yield Speed(
                policy=name,
                plant=plant,
                simulated_s_per_s=simulated_s / max(cpu_s, 1e-9),
                simulated_s=simulated_s,
                cpu_s=cpu_s,
                decisions=len(run.records),
            )


def _plant(name: str, simulated_s: float) -> Plant:
    if name == "spark":
        job = SparkParameters(
            executors=4, trigger_s=10.0, source_partitions=24, state_partitions=24, cpu_per_busy=1.0
        )
        return SparkPlant(job, Cosine(shift=15_000.0, amplitude=10_000.0, noise=1_000.0), seed=1)
    rates = Cosine()
    arrivals = [rates.rate_per_s(second + 0.5) for second in range(int(simulated_s) + 1)]
    return FlinkPlant(FlinkJob(rate_per_s=80_000.0), arrivals, 4, np.random.SeedSequence(1))
