"""At a constant load a scale-in is reversed at most once an hour, for any batch cost."""

import itertools
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.config import GuardOptions, LoopOptions
from rheostat.guards import guards_of
from rheostat.model import Limits, Slo
from rheostat.policies.registry import create
from rheostat.sim.engine import Run, simulate
from rheostat.sim.plant import PlantWrapper
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant

MINUTES = 40

plants = st.builds(
    SparkParameters,
    executors=st.sampled_from((1, 4, 8, 16)),
    slots_per_executor=st.sampled_from((1, 2)),
    trigger_s=st.sampled_from((0.0, 1.0, 5.0)),
    source_partitions=st.sampled_from((4, 16)),
    state_partitions=st.sampled_from((0, 16)),
    fixed_s=st.sampled_from((0.3, 1.5, 3.0)),
    source_task_s=st.sampled_from((0.015, 0.1, 0.3)),
    source_row_s=st.sampled_from((1e-4, 1e-3)),
    batch_noise=st.sampled_from((0.1, 0.3)),
    task_noise=st.sampled_from((0.1, 0.3)),
    start_s=st.sampled_from((3.0, 20.0)),
    cold_s=st.sampled_from((1.8, 8.0)),
)


class BusyComputer(PlantWrapper):
    """A plant on a computer that is slow for ten seconds about every quarter of an hour."""

    def __init__(self, plant: SparkPlant, times: float, seed: int) -> None:
        super().__init__(plant)
        self._slow, self._times = plant, times
        chance = random.Random(seed)
        gaps_s = [chance.expovariate(1 / 900) for _ in range(20)]
        self._begin_s = list(itertools.accumulate(gaps_s))

    def advance(self, now: float) -> None:
        """Run all events due up to ``now``, then set the pace from then on."""
        super().advance(now)
        busy = any(begin_s <= now < begin_s + 10 for begin_s in self._begin_s)
        self._slow.slow = self._times if busy else 1.0
        for executor in self._slow.fleet.executors:
            executor.slow, executor.slow_until_s = self._slow.slow, float("inf")


def simulated(rate: float, plant: SparkParameters, times: float, seed: int) -> Run:
    return simulate(
        BusyComputer(SparkPlant(plant, Constant(rate), seed=seed, poisson=True), times, seed),
        create("predictive", {}, Slo(latency_s=10)),
        guards_of(Limits.between(1, 16), GuardOptions(), LoopOptions()),
        until_s=60 * MINUTES,
        interval_s=5,
    )


def reversals_s(run: Run) -> list[float]:
    """Return the times of the scale-outs that reversed a scale-in."""
    changes = [
        (record.t_s, record.target - record.observation.size)
        for record in run.records
        if record.observation and record.observation.size and record.target
    ]
    changes = [(t_s, change) for t_s, change in changes if change]
    return [
        t_s for (_, before), (t_s, change) in itertools.pairwise(changes) if before < 0 < change
    ]


@settings(max_examples=5, deadline=None)
@given(
    rate=st.sampled_from((7.0, 52.0, 1000.0)),
    plant=plants,
    times=st.sampled_from((1.0, 6.0, 20.0)),
    seed=st.integers(0, 10**6),
)
def test_a_scale_in_is_reversed_at_most_once_an_hour(rate, plant, times, seed):
    assert len(reversals_s(simulated(rate, plant, times, seed))) <= 1
