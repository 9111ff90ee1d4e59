from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.model import Limits, Slo
from rheostat.sim.plant import Floats
from rheostat.sim.workload import Constant
from rheostat_lab.bounds.batch_grid import Batches
from rheostat_lab.bounds.batch_path import Path
from rheostat_lab.bounds.bounded_job import Curve, Job, curve_of
from rheostat_lab.bounds.clairvoyant import _Program, clairvoyant
from rheostat_lab.bounds.load_law import law_of
from rheostat_lab.bounds.nonanticipative import nonanticipative
from rheostat_lab.bounds.scoring import best_static, bounds, job_of, run_static, score
from rheostat_lab.loads.bursts import Bursts
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.espa import Espa
from rheostat_lab.loads.steps import Steps
from rheostat_lab.loads.text import parse
from rheostat_lab.loads.trace import Trace
from rheostat_lab.loads.walk import Walk
from rheostat_lab.sweep.plant_parameters import spark_parameters


def _batch_s(rows: Floats, executors: Floats) -> Floats:
    return 0.5 + rows / (100 * executors)


def _job(**more: object) -> Job:
    given: dict[str, object] = {
        "batch_s": _batch_s,
        "trigger_s": 10.0,
        "start_s": 20.0,
        "stop_s": 3.0,
        "limits": Limits.between(1, 3),
        "rescale_cost": 2.0,
        "slo": Slo(latency_s=18.0),
    }
    return Job(**{**given, **more})  # type: ignore[arg-type]


def _every_run(job: Job, curve: Curve, initial: int, price: float) -> float:
    """Return the minimum of cost plus price per late row over all sequences of sizes, one per
    batch, by a direct search without tables."""
    best = math.inf
    step_s, rows = curve.step_s, curve.rows
    for sizes in itertools.product(
        range(job.limits.min_executors, job.limits.max_executors + 1), repeat=curve.steps - 1
    ):
        t, since, size, spent, choice = 1, 0, initial, initial * step_s, iter(sizes)
        age = 1
        while t < curve.steps:
            after = next(choice)
            if after > size and t * step_s < job.start_s:
                break
            spent += (after - size) * job.start_s if after > size else (size - after) * job.stop_s
            spent += job.rescale_cost * (after != size)
            took_s = 0.5 + (rows[t] - rows[since]) / (100 * after)
            lasts = max(1, math.ceil(took_s / step_s - 1e-9))
            in_time_from_s = t * step_s + took_s - job.slo.latency_s
            spent += price * max(
                0.0,
                float(
                    np.interp(min(in_time_from_s, t * step_s), step_s * np.arange(len(rows)), rows)
                )
                - rows[since],
            )
            spent += after * min(lasts, curve.steps - t) * step_s
            size, age, since, t = after, t - since, t, t + lasts
        else:
            if age <= 1:
                best = min(best, spent)
    return best


@pytest.mark.parametrize("price", [0.0, 0.01, 0.1, 5.0])
@pytest.mark.parametrize(
    "levels",
    [
        (50, 50, 220, 220, 30, 30, 30),
        (20, 250, 20, 20, 250, 20, 20),
        (90, 180, 90, 10, 10, 150, 60),
    ],
)
def test_the_program_finds_the_optimal_run(levels: tuple[float, ...], price: float) -> None:
    job = _job()
    curve = curve_of(Steps(tuple(map(float, levels)), hold_s=10), 70, 10)
    wanted = _every_run(job, curve, 2, price)
    program = _Program(Batches(job, curve), job.index(2), 7)
    path = program.path(price)
    result = program.bound(price) + price * 0.01 * curve.rows[-1]
    if math.isinf(wanted):
        assert path is None
        assert math.isinf(result)
    else:
        assert path is not None
        assert result == pytest.approx(wanted)
        assert path.cost + price * path.late.sum() == pytest.approx(wanted)


def test_a_path_meets_the_objective_with_a_narrow_gap() -> None:
    job = _job(
        limits=Limits.between(1, 8), batch_s=lambda rows, executors: 0.5 + rows / (1000 * executors)
    )
    curve = curve_of(Cosine(shift=1500, amplitude=1000, noise=100, period_s=1800), 3600, 10)
    result = clairvoyant(job, curve, 4)
    assert result.path is not None
    assert result.path.attains()
    assert result.lower <= result.path.cost
    assert result.gap is not None
    assert result.gap < 0.05


def test_the_clairvoyant_beats_the_fixed_size_but_not_the_lower_bound() -> None:
    job = _job(
        limits=Limits.between(1, 8), batch_s=lambda rows, executors: 0.5 + rows / (1000 * executors)
    )
    load = Cosine(shift=1500, amplitude=1000, noise=100, period_s=900)
    result = bounds(job, load, 1800, initial=4)
    assert result.static is not None
    assert result.static_cost is not None
    assert result.clairvoyant.path is not None
    assert result.clairvoyant.path.cost < result.static_cost
    for executors in range(result.static, 9):
        assert run_static(job, curve_of(load, 1800, 10), executors).cost >= result.clairvoyant.lower


def test_a_constant_load_needs_no_change_and_has_tight_bounds() -> None:
    job = _job(limits=Limits.between(1, 4))
    result = bounds(job, Constant(150), 1200)
    assert result.static == 2  # 1500 rows in 10 s: 15.5 s with one executor, 8 s with two
    assert result.static_cost == 2 * 1200
    assert result.clairvoyant.path is not None
    # One percent of the rows may be late, so the last batch may be slow.
    assert 0.99 * result.static_cost <= result.clairvoyant.path.cost <= result.static_cost
    assert result.clairvoyant.path.rescalings <= 1
    assert result.clairvoyant.gap == pytest.approx(0, abs=0.03)


def test_if_no_size_attains_there_is_no_best_size_or_path() -> None:
    job = _job(limits=Limits.between(1, 2))
    result = bounds(job, Constant(1000), 600)
    assert (result.static, result.static_cost, result.clairvoyant.path, result.clairvoyant.gap) == (
        None,
        None,
        None,
        None,
    )


def test_the_optimistic_rounding_never_costs_more() -> None:
    job = _job(trigger_s=0.0, limits=Limits.between(1, 3), slo=Slo(latency_s=6))
    curve = curve_of(Steps((30.0, 120.0, 40.0), hold_s=60), 180, 1)
    for price in (0.0, 0.01, 1.0):
        kind, fair = (
            _Program(Batches(job, curve, kindly=kindly), 1, 30).bound(price)
            for kindly in (True, False)
        )
        assert kind <= fair


def test_a_row_limit_increases_the_age_of_the_backlog() -> None:
    free, limited = _job(), _job(max_rows=900.0)
    curve = curve_of(Steps((50.0, 140.0, 50.0, 50.0), hold_s=30), 120, 1)
    assert run_static(free, curve, 3).late_share == 0
    assert run_static(limited, curve, 3).late_share > 0
    assert max(run_static(limited, curve, 3).rows) <= 900
    assert clairvoyant(limited, curve, 3).lower >= clairvoyant(free, curve, 3).lower
    with pytest.raises(
        BadInput, match="a rows limit of 900 needs a finer grid: a step of 10 s brings 1400 rows"
    ):
        run_static(limited, curve_of(Steps((50.0, 140.0), hold_s=30), 120, 10), 3)


def test_rows_that_are_never_committed_are_late() -> None:
    curve = curve_of(Constant(1000), 300, 10)
    assert run_static(_job(), curve, 1).late_share > 0.9


def test_the_score_is_1_at_the_bound_and_0_at_the_best_fixed_size() -> None:
    assert score(50, 100, 50, attained=True) == 1
    assert score(100, 100, 50, attained=True) == 0
    assert score(125, 100, 50, attained=True) == -0.5
    assert score(50, 100, 50, attained=False) is None
    assert score(50, 50, 50, attained=True) is None


def test_a_policy_without_foresight_costs_at_least_the_clairvoyant_cost() -> None:
    job = _job(
        limits=Limits.between(1, 5), batch_s=lambda rows, executors: 0.5 + rows / (1000 * executors)
    )
    load = Bursts(quiet=500, burst=3000, quiet_s=400, burst_s=200)
    blind = nonanticipative(job, load, 1800, 2)
    assert blind.policy is not None
    assert blind.lower <= blind.between <= blind.policy.cost * 1.001
    assert blind.policy.late_share <= 0.01
    loads = [
        Bursts(quiet=500, burst=3000, quiet_s=400, burst_s=200, seed=seed) for seed in range(4)
    ]
    costs = [clairvoyant(job, curve_of(sample, 1800, 10), 2).lower for sample in loads]
    assert np.mean(costs) < blind.policy.cost


def test_without_randomness_foresight_has_no_value() -> None:
    job = _job(limits=Limits.between(1, 4), rescale_cost=0.0)
    blind = nonanticipative(job, Constant(150), 1200, 2)
    assert blind.policy is not None
    assert blind.policy.cost == pytest.approx(2 * 1200, rel=0.02)
    assert blind.lower == pytest.approx(2 * 1200, rel=0.05)


@pytest.mark.parametrize("load", [Cosine(), Walk(), Bursts(), Constant(7)])
def test_a_law_is_normalized_and_preserves_the_mean_load(
    load: Cosine | Walk | Bursts | Constant,
) -> None:
    law = law_of(load, 3600, 30)
    assert law.first.sum() == pytest.approx(1)
    chance, means = law.first, []
    for t, rates in enumerate(law.rates):
        means.append(float(chance @ rates))
        if t < len(law.moves):
            np.testing.assert_allclose(law.moves[t].sum(axis=1), 1)
            chance = chance @ law.moves[t]
    seeds = [load] if isinstance(load, Constant) else [type(load)(seed=seed) for seed in range(40)]
    sampled = [np.mean([sample.rate_per_s(15 + 30 * t) for sample in seeds]) for t in range(120)]
    assert np.mean(means) == pytest.approx(np.mean(sampled), rel=0.15)


def test_a_job_whose_executors_start_slowly_begins_with_the_size_of_a_peak() -> None:
    # The cosine begins at its peak: from one executor, the rows of the first minute are late.
    job = _job(limits=Limits.between(1, 4), start_s=60.0)
    load = Cosine(shift=150, amplitude=100, noise=10, period_s=1200)
    begun = nonanticipative(job, load, 2400)
    assert begun.policy is not None
    assert begun.policy.late_share <= 0.01
    assert begun.lower <= begun.policy.cost < 4 * 2400
    assert nonanticipative(job, load, 2400, 1).policy is None


def test_a_profile_has_the_law_of_its_load() -> None:
    profile = law_of(Espa(profile="random-walk", query="11", scale=0.3), 3600, 60)
    walk = law_of(Walk(start=100_000), 3600, 60)
    np.testing.assert_allclose(profile.rates, walk.rates * 0.3)
    np.testing.assert_allclose(profile.first, walk.first)


def test_a_load_with_an_unknown_law_is_rejected() -> None:
    with pytest.raises(BadInput, match="the law of a load of kind trace is not known"):
        nonanticipative(_job(), Trace((0, 1), (1, 1)), 600, 1)


def test_a_load_without_rows_is_rejected() -> None:
    with pytest.raises(BadInput, match="the load contains no rows in 600 s"):
        bounds(_job(), Constant(0), 600)
    with pytest.raises(
        BadInput, match="the number of executors must be within 1 and 3, but it is 9"
    ):
        bounds(_job(), Constant(5), 600, initial=9)


def test_the_best_fixed_size_is_the_smallest_that_attains() -> None:
    curve = curve_of(Constant(150), 1200, 10)
    result = best_static(_job(), curve)
    assert result is not None
    assert not run_static(_job(), curve, result[0] - 1).attains()


def _cheapest_attaining(job: Job, curve: Curve, end_age: int) -> float:
    """Return the minimum cost over all initial sizes and all sequences of sizes that meet both
    rules of the objective, by a direct search without tables."""
    best, batches = math.inf, Batches(job, curve)
    for sizes in itertools.product(range(len(job.sizes)), repeat=curve.steps):
        t, since, size, batches_run = 1, 0, sizes[0], []
        spent, choice, age = float(job.sizes[size]) * curve.step_s, iter(sizes[1:]), 1
        while t < curve.steps:
            after = next(choice)
            if after > size and t * curve.step_s < job.start_s:
                spent = math.inf
            spent += float(job.switching()[size, after])
            executors = job.sizes[[after]]
            until, lasts, late = batches.from_step(t, np.array([since]), executors)
            rows = float(curve.rows[until[0]] - curve.rows[since])
            batches_run.append((t * curve.step_s, float(executors[0]), rows, float(late[0])))
            spent += float(executors[0]) * min(int(lasts[0]), curve.steps - t) * curve.step_s
            size, age, since, t = after, t - since, int(until[0]), t + int(lasts[0])
        if age <= end_age and spent < best and Path.of(batches_run, spent, 0).attains():
            best = spent
    return best


@settings(max_examples=25, deadline=None)
@given(
    levels=st.lists(st.integers(5, 260), min_size=6, max_size=6),
    start_s=st.sampled_from([0.0, 10.0, 30.0]),
    slo_s=st.sampled_from([14.0, 18.0, 30.0]),
)
def test_the_bracket_contains_the_optimal_run_and_no_fixed_size_is_cheaper(
    levels: list[int], start_s: float, slo_s: float
) -> None:
    job = _job(start_s=start_s, slo=Slo(latency_s=slo_s))
    load = Steps(tuple(map(float, levels)), hold_s=10)
    curve = curve_of(load, 60, 10)
    static = best_static(job, curve)
    result = clairvoyant(job, curve, fixed=static[1] if static else None)
    if static is not None:
        assert result.path is not None
        assert result.path.cost <= static[1].cost
    if result.path is not None:
        assert result.path.attains()
        assert result.lower <= result.path.cost + 1e-6
    cheapest = _cheapest_attaining(job, curve, end_age=1)
    assert result.lower <= cheapest + 1e-6
    if result.path is not None and static is None:
        assert result.path.cost >= cheapest - 1e-6


@pytest.mark.thorough
def test_with_slow_starts_the_clairvoyant_costs_at_most_a_fixed_size() -> None:
    for text, trigger_s, start_s in (
        ("steps:levels=10000,38000,hold_s=60", 2, 20),
        ("0.2 * cosine", 10, 60),
    ):
        parameters = spark_parameters({"trigger_s": trigger_s, "start_s": start_s})
        slo = Slo(latency_s=30)
        job = job_of(parameters, limits=Limits.between(1, 16), slo=slo, rescale_cost=30)
        result = bounds(job, parse(text), 8400)
        assert result.clairvoyant.path is not None
        assert result.static_cost is not None
        assert result.clairvoyant.path.cost <= result.static_cost
