"""For any job, policy and faults: no row is lost, no bound is violated, nothing is paid twice, and
a seed determines the run."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.guards import standard_guards
from rheostat.journal.record import to_line
from rheostat.model import Limits, Slo
from rheostat.policies.registry import POLICIES, create
from rheostat.sim.engine import Run, simulate
from rheostat.sim.measures import measures
from rheostat.sim.noise import streams
from rheostat.sim.plant import Plant
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.steps import Steps
from rheostat_lab.sweep.faults import ExecutorLoss, LateMetrics, MissingMetrics, Stragglers

LIMITS = Limits.between(2, 9)
UNTIL_S = 600.0

jobs = st.builds(
    SparkParameters,
    executors=st.integers(1, 10),
    slots_per_executor=st.integers(1, 4),
    trigger_s=st.sampled_from([0.0, 1.0, 10.0]),
    max_rows=st.sampled_from([None, 7_000.0]),
    source_partitions=st.integers(1, 12),
    state_partitions=st.integers(0, 12),
    task_noise=st.sampled_from([0.0, 0.8]),
    batch_noise=st.sampled_from([0.0, 0.8]),
    start_s=st.sampled_from([0.0, 4.0, 200.0]),
    placement=st.booleans(),
    moves_per_batch=st.sampled_from([None, 1]),
    warm_up_s=st.sampled_from([0.0, 15.0]),
    locality_wait_s=st.sampled_from([0.0, 0.2, 3.0]),
    leave_s=st.sampled_from([0.0, 30.0]),
    cpu_per_busy=st.just(0.9),
)
loads = st.sampled_from(
    [Cosine(2_000, 2_000, 500, period_s=300, hold_s=10), Steps((0, 9_000, 0, 10), 200), Steps((0,))]
)
faults = st.lists(st.sampled_from(["loss", "stragglers", "late", "missing"]), unique=True)


def plant_of(job: SparkParameters, load: Cosine | Steps, broken: list[str], seed: int) -> Plant:
    losses, slows, gaps = streams(seed + 1, 3)
    failing: SparkPlant | ExecutorLoss | Stragglers = SparkPlant(job, load, seed=seed, poisson=True)
    if "loss" in broken:
        failing = ExecutorLoss(failing, 100.0, losses)
    if "stragglers" in broken:
        failing = Stragglers(failing, 150.0, slows)
    observed: Plant = failing
    if "late" in broken:
        observed = LateMetrics(observed, 25.0)
    if "missing" in broken:
        observed = MissingMetrics(observed, 0.3, gaps)
    return observed


def run(
    job: SparkParameters, load: Cosine | Steps, broken: list[str], policy: str, seed: int
) -> Run:
    plant = plant_of(job, load, broken, seed)
    return simulate(
        plant, create(policy), standard_guards(LIMITS), until_s=UNTIL_S, interval_s=15.0
    )


@settings(max_examples=30, deadline=None)
@given(
    job=jobs,
    load=loads,
    broken=faults,
    policy=st.sampled_from(list(POLICIES)),
    seed=st.integers(0, 99),
)
def test_invariants_hold_for_any_run(
    job: SparkParameters, load: Cosine | Steps, broken: list[str], policy: str, seed: int
) -> None:
    done = run(job, load, broken, policy, seed)
    book = done.ledger
    assert book.arrived_rows == pytest.approx(book.committed_rows + book.lag_rows[-1])
    assert book.rows.sum() == pytest.approx(book.committed_rows)
    assert book.left_rows.sum() == pytest.approx(book.arrived_rows - book.committed_rows, abs=1e-6)
    assert (book.latency_s >= 0).all()
    assert (book.lag_rows >= -1e-6).all()
    for sizes in (book.registered, book.paid, book.targets):
        assert (np.diff(sizes.t_s) >= 0).all()
        assert (sizes.values >= 0).all()
    later = np.linspace(0.0, UNTIL_S, 500)
    assert (book.paid.at(later) >= book.registered.at(later)).all()
    assert all(
        LIMITS.min_executors <= record.target <= LIMITS.max_executors
        for record in done.records
        if record.target is not None
    )
    assert all(
        not (record.observation and (record.observation.lag_rows or 0) < 0)
        for record in done.records
    )
    result = measures(book, Slo())
    assert result.executor_hours * 3600 >= book.registered.integral(0.0, UNTIL_S) - 1e-6


@settings(max_examples=6, deadline=None)
@given(
    job=jobs,
    load=loads,
    broken=faults,
    policy=st.sampled_from(list(POLICIES)),
    seed=st.integers(0, 99),
)
def test_a_seed_determines_the_journal(
    job: SparkParameters, load: Cosine | Steps, broken: list[str], policy: str, seed: int
) -> None:
    first, again = (run(job, load, broken, policy, seed) for _ in range(2))
    assert [to_line(record) for record in first.records] == [
        to_line(record) for record in again.records
    ]


@settings(max_examples=3, deadline=None)
@given(job=jobs, seed=st.integers(0, 99))
def test_policies_do_not_affect_arrivals(job: SparkParameters, seed: int) -> None:
    load = Cosine(2_000, 1_000, 500, period_s=300, hold_s=10)
    one, other = (
        run(job, load, ["loss"], policy, seed).ledger for policy in ("fixed", "threshold")
    )
    assert one.arrived_rows == other.arrived_rows


def test_another_seed_gives_another_journal() -> None:
    job, load = SparkParameters(), Cosine(2_000, 1_000, 500, period_s=300, hold_s=10)
    one, other = (run(job, load, [], "threshold", seed).records for seed in (1, 2))
    assert [to_line(record) for record in one] != [to_line(record) for record in other]


@settings(max_examples=6, deadline=None)
@given(
    job=jobs, seed=st.integers(0, 99), moments=st.lists(st.floats(0, 100), min_size=1, max_size=20)
)
def test_observing_a_plant_does_not_affect_it(
    job: SparkParameters, seed: int, moments: list[float]
) -> None:
    load = Steps((3_000.0,))
    observed, unobserved = (
        SparkPlant(job, load, seed=seed, poisson=True),
        SparkPlant(job, load, seed=seed, poisson=True),
    )
    for now in sorted(moments):
        observed.observe(now)
    observed.advance(100.0)
    unobserved.advance(100.0)
    assert observed.committed == unobserved.committed
    assert observed.observe(100.0)[0].lag_rows == unobserved.observe(100.0)[0].lag_rows
