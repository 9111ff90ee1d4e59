"""``predictive`` on the simulated Spark job: it meets the objective wherever that is possible, also
with executors that take a minute to start.
"""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from rheostat.guards import standard_guards
from rheostat.model import Limits, Slo
from rheostat.policies.predictive.policy import Predictive
from rheostat.sim.engine import Run, simulate
from rheostat.sim.measures import measures
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant, Workload
from rheostat_lab.loads.bursts import Bursts
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.ramp import Ramp
from rheostat_lab.loads.steps import Steps
from rheostat_lab.sweep.runner import play
from rheostat_lab.sweep.sweep_spec import read_spec

EXPERIMENT = Path(__file__).parents[4] / "experiments" / "predictive.yaml"
SLO = Slo(latency_s=30)
WAVE = Cosine(shift=30_000, amplitude=20_000, noise=2000, seed=31)
BURSTS = Bursts(quiet=15_000, burst=40_000, quiet_s=600, burst_s=180, seed=33)


def run_wave(load: Workload, minutes: float, start_s: float, **given: Any) -> Run:
    plant = SparkPlant(SparkParameters(executors=8, start_s=start_s), load, seed=3)
    return simulate(
        plant,
        Predictive(slo=30, **given),
        standard_guards(Limits(max_executors=16)),
        until_s=60 * minutes,
        interval_s=5,
    )


def run_within_10_s(plant: SparkParameters, load: Workload, most: int, until_s: float) -> Run:
    return simulate(
        SparkPlant(plant, load, seed=9),
        Predictive(slo=10),
        standard_guards(Limits(max_executors=most)),
        until_s=until_s,
        interval_s=5,
    )


@pytest.mark.parametrize("start_s", [3.0, 60.0])
def test_a_wave_meets_the_objective_below_the_cost_of_its_peak_size(
    start_s: float,
) -> None:
    run = run_wave(WAVE, 70, start_s)
    result = measures(run.ledger, SLO, warm_up_s=600)
    assert result.attained
    assert result.executors_mean < 10
    assert result.rescalings < 30


def test_unannounced_bursts_meet_the_objective() -> None:
    assert measures(run_wave(BURSTS, 50, 3.0).ledger, SLO, warm_up_s=300).attained


def test_a_surge_that_can_still_be_met_adds_no_executors() -> None:
    run = run_wave(Cosine(shift=27_000, amplitude=0, noise=600, seed=5), 50, 3.0)
    targets = [record.target for record in run.records[240:]]
    assert measures(run.ledger, SLO, warm_up_s=600).attained
    assert targets.count(6) > 0.6 * len(targets)  # six can process 28,600 rows/s


def test_a_constant_low_rate_does_not_cause_flapping() -> None:
    load = Steps(levels=(1600, 7700, 4600, 1600, 1600, 1600, 1600, 1600), hold_s=600)
    plant = SparkParameters(
        executors=8,
        slots_per_executor=1,
        trigger_s=1,
        source_partitions=32,
        state_partitions=48,
        fixed_s=0.5,
        source_row_s=5e-4,
        state_row_s=2.5e-4,
        task_noise=0.2,
        start_s=5,
    )
    run = run_within_10_s(plant, load, most=16, until_s=4800)
    targets = [record.target for record in run.records if 2100 <= record.t_s < 4800]
    assert sum(a != b for a, b in itertools.pairwise(targets)) <= 6


def test_the_long_batch_after_a_scale_in_does_not_cause_a_scale_out() -> None:
    plant = SparkParameters(
        executors=3,
        trigger_s=1,
        source_partitions=48,
        state_partitions=64,  # the remaining executor loads half of them again: 6 s
        fixed_s=0.2,
        source_row_s=2e-5,
        state_row_s=4e-5,
        source_skew=1.5,
        start_s=5,
    )
    run = run_within_10_s(plant, Constant(3500), most=6, until_s=2400)
    targets = [record.target or 0 for record in run.records if record.t_s >= 120]
    assert measures(run.ledger, Slo(latency_s=10), warm_up_s=120).attained
    assert targets[-1] == 1
    assert targets == sorted(targets, reverse=True)


def test_an_objective_below_two_trigger_intervals_is_met() -> None:
    load = Constant(20_000)
    run = run_within_10_s(SparkParameters(executors=4, trigger_s=6), load, most=16, until_s=900)
    assert measures(run.ledger, Slo(latency_s=10), warm_up_s=300).attained


def test_an_objective_that_the_trigger_interval_rules_out_is_reported() -> None:
    load = Constant(5000)
    run = run_within_10_s(SparkParameters(executors=4, trigger_s=10), load, most=16, until_s=300)
    raw = run.records[-1].raw
    assert raw is not None
    reason = raw.reason
    assert "no size meets an objective of 10 s with a trigger interval of 10 s" in reason
    assert "no late rows" not in reason


def test_a_backlog_that_no_size_clears_in_time_still_scales_out() -> None:
    wanted = ("predictive", "trace", "start 3 s", 731)
    cell = next(
        candidate
        for candidate in read_spec(EXPERIMENT)
        if (candidate.policy, candidate.load, candidate.plant, candidate.seed) == wanted
    )
    assert measures(play(cell).ledger, SLO, warm_up_s=300).attained


def test_a_jump_beyond_the_objective_gets_the_fastest_recovery_size() -> None:
    load = Steps(levels=(43_972.4, 155_243.7), hold_s=600)
    plant = SparkParameters(
        executors=8,
        slots_per_executor=2,
        trigger_s=1,
        source_partitions=16,
        state_partitions=16,
        fixed_s=1,
        source_row_s=2e-5,
        state_row_s=2e-5,
        task_noise=0.2,
        start_s=10,
    )
    run = simulate(
        SparkPlant(plant, load, seed=30_026),
        Predictive(slo=10),
        standard_guards(Limits(max_executors=16)),
        until_s=900,
        interval_s=5,
    )
    requested = [record.target or 0 for record in run.records if record.t_s >= 600]
    first = next(target for target in requested if target > requested[0])
    assert first == 8  # 16 tasks on two slots each: more executors would not help


def test_a_scale_in_happens_only_if_it_saves_more_than_it_costs() -> None:
    run = run_wave(WAVE, 40, 3.0, rescale_cost=100)
    spared = []
    for record in run.records:
        lasts = re.match(
            r"(\d+) executors? suffices? for (\d+) s", record.raw.reason if record.raw else ""
        )
        if lasts and record.observation:
            spared.append(((record.observation.size or 0) - int(lasts[1])) * int(lasts[2]))
    assert min(spared, default=100) >= 100


def test_executors_that_shorten_no_batch_are_released() -> None:
    run = run_wave(Constant(45_000), 10, 3.0)
    at_s = {record.t_s: record.target for record in run.records}
    assert (at_s[150.0] or 0) > 12
    assert at_s[300.0] == 12  # 24 tasks take two waves with both sizes


def test_late_executors_are_not_counted_as_available() -> None:
    run = run_wave(WAVE, 20, 60.0)
    for record in run.records:
        assert record.observation is not None
    sizes = [record.target or 0 for record in run.records[:60]]
    downs = sum(b < a for a, b in itertools.pairwise(sizes))
    assert downs <= 1


@pytest.mark.parametrize("seed", [3, 4])
def test_a_large_fixed_cost_still_scales_out_while_late_rows_decrease(
    seed: int,
) -> None:
    batches = SparkParameters(
        executors=4,
        slots_per_executor=2,
        trigger_s=2,
        fixed_s=3,
        source_partitions=32,
        state_partitions=64,
    )
    load = Ramp(low=4000, high=16_000, begin_s=300, ramp_s=1200)
    run = simulate(
        SparkPlant(batches, load, seed=seed),
        Predictive(slo=10),
        standard_guards(Limits(max_executors=16)),
        until_s=2400,
        interval_s=5,
    )
    result = measures(run.ledger, Slo(latency_s=10), warm_up_s=300)
    assert result.attained
    assert result.executors_mean < 10  # the extra time of cold executors is not load


def test_a_wave_with_a_large_fixed_cost_needs_few_rescales() -> None:
    slo = Slo(latency_s=10)
    parameters = SparkParameters(
        executors=8,
        trigger_s=2,
        fixed_s=3,
        slots_per_executor=2,
        source_partitions=32,
        state_partitions=64,
        start_s=10.0,
    )
    wave = Cosine(shift=12_000, amplitude=8000, period_s=1200, noise=1000, seed=31)
    run = simulate(
        SparkPlant(parameters, wave, seed=3),
        Predictive(slo=10),
        standard_guards(Limits(max_executors=16)),
        until_s=60 * 100,
        interval_s=5,
    )
    result = measures(run.ledger, slo, warm_up_s=300)
    assert result.attained
    assert result.executors_mean < 11
    assert result.rescalings < 45
