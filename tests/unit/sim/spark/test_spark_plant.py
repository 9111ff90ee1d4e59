"""The Spark plant reproduces measurements on Spark: fixed cost, state partitions, cold executors,
locality, placement."""

from collections.abc import Iterator
from statistics import median

import pytest

from rheostat.model import Decision, Observation
from rheostat.signals.true_rates import stage_needs
from rheostat.sim.spark.spark_batch import SimulatedBatch
from rheostat.sim.spark.spark_plant import SparkPlant
from rheostat.sim.workload import Constant
from rheostat_lab.loads.steps import Steps
from rheostat_lab.sweep.plant_parameters import spark_parameters

CALM = {"task_noise": 0.0, "batch_noise": 0.0, "start_noise": 0.0}


def plant_of(rate: float = 1_000.0, **given: object) -> SparkPlant:
    return SparkPlant(spark_parameters({**CALM, "trigger_s": 1.0, **given}), Constant(rate), seed=1)


def batches(plant: SparkPlant, until_s: float, step_s: float = 0.05) -> Iterator[SimulatedBatch]:
    """Yield each batch as it ends."""
    last = plant.last
    while plant.events.now < until_s:
        plant.advance(plant.events.now + step_s)
        if plant.last is not None and plant.last is not last:
            last = plant.last
            assert last.end_s <= plant.events.now
            yield last


def resize(plant: SparkPlant, executors: int) -> str:
    return plant.rescale(Decision(target=executors, reason="test"), plant.events.now).phase


def observation(plant: SparkPlant, now: float) -> Observation:
    return plant.observe(now)[0]


def executors_of_state(plant: SparkPlant) -> set[int]:
    return set(plant._stages.owners)


@pytest.mark.parametrize(
    ("commit_s", "low", "high"), [(0.028, 0.010, 0.020), (0.085, 0.035, 0.045)]
)
def test_the_cost_of_a_state_partition_matches_measurements(
    commit_s: float, low: float, high: float
) -> None:
    took = {
        n: plant_of(500.0, state_partitions=n, state_commit_s=commit_s, executors=2, trigger_s=10.0)
        for n in (24, 60)
    }
    batch_s = {
        n: median(batch.batch_s for batch in batches(plant, 60.0)) for n, plant in took.items()
    }
    assert low < (batch_s[60] - batch_s[24]) / 36 < high


def test_a_nearly_empty_batch_costs_the_fixed_time() -> None:
    plant = plant_of(1.0, source_partitions=2, state_partitions=0)
    assert median(batch.batch_s for batch in batches(plant, 20.0)) == pytest.approx(0.281, rel=0.1)


def test_a_cold_executor_slows_exactly_one_batch() -> None:
    plant = plant_of(2_000.0, executors=2, state_partitions=8, source_partitions=8)
    steady_s = median(batch.batch_s for batch in batches(plant, 20.0))
    resize(plant, 4)
    after = [batch.batch_s for batch in batches(plant, 60.0)]
    assert 1.5 < max(after) - steady_s < 3.5  # measured: 1.7 to 3.4 s
    assert sum(batch_s > steady_s + 0.5 for batch_s in after) == 1
    assert median(after[-5:]) < steady_s


def test_a_warm_up_removes_the_cold_start_from_state_tasks() -> None:
    worst = {}
    for warm_up_s in (0.0, 8.0):
        plant = plant_of(
            2_000.0, executors=2, state_partitions=8, source_partitions=8, warm_up_s=warm_up_s
        )
        list(batches(plant, 20.0))
        resize(plant, 4)
        worst[warm_up_s] = [
            max(stage.task_s)
            for batch in batches(plant, 60.0)
            for stage in batch.stages
            if stage.name == "state"
        ]
    assert max(worst[0.0]) > 1.0
    assert max(worst[8.0]) < 0.3  # 115 ms to load 8 MB, warm


def test_without_placement_new_executors_never_get_state() -> None:
    plant = plant_of(5_000.0, executors=2, state_partitions=8, placement=False)
    list(batches(plant, 20.0))
    resize(plant, 4)
    list(batches(plant, 120.0))
    assert observation(plant, 120.0).executors == 4
    assert executors_of_state(plant) == {0, 1}
    assert "without placement" in plant.capabilities().cannot[0]


def test_placement_moves_a_minimal_number_of_partitions_to_new_executors() -> None:
    plant = plant_of(5_000.0, executors=2, state_partitions=8)
    list(batches(plant, 20.0))
    before = list(plant._stages.owners)
    resize(plant, 4)
    list(batches(plant, 60.0))
    after = plant._stages.owners
    assert sorted(after.count(executor) for executor in set(after)) == [2, 2, 2, 2]
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 4


def test_moves_per_batch_limits_the_moved_partitions() -> None:
    plant = plant_of(5_000.0, executors=2, state_partitions=8, moves_per_batch=1)
    list(batches(plant, 20.0))
    resize(plant, 4)
    before, moved = list(plant._stages.owners), []
    for _ in batches(plant, 60.0):
        moved.append(sum(old != new for old, new in zip(before, plant._stages.owners, strict=True)))
        before = list(plant._stages.owners)
    assert max(moved) == 1
    assert sum(moved) == 4


def test_a_draining_executor_keeps_its_state_until_the_last_move() -> None:
    plant = plant_of(3_000.0, executors=4, state_partitions=8, moves_per_batch=1)
    list(batches(plant, 20.0))
    resize(plant, 2)
    for _ in batches(plant, 40.0):
        assert executors_of_state(plant) <= {executor.number for executor in plant.fleet.executors}
    assert [executor.number for executor in plant.fleet.executors] == [0, 1]
    assert plant.ledger().registered.t_s[-1] > 22.5


def test_state_tasks_longer_than_the_locality_wait_run_elsewhere() -> None:
    stays, strays = (
        plant_of(
            8_000.0,
            executors=2,
            state_partitions=8,
            state_row_s=2e-3,
            source_row_s=0.0,
            placement=False,
            trigger_s=0.0,
            locality_wait_s=wait_s,
        )
        for wait_s in (1e6, 3.0)
    )
    for plant in (stays, strays):
        plant.advance(20.0)
        resize(plant, 4)
        plant.advance(300.0)
    assert executors_of_state(stays) == {0, 1}
    assert len(executors_of_state(strays)) > 2


def test_placement_restores_partitions_that_ran_elsewhere() -> None:
    plant = plant_of(100.0, executors=4, state_partitions=8, state_commit_s=1.0, trigger_s=10.0)
    plant.advance(35.0)
    even = list(plant._stages.owners)
    plant.slow_executor(5.0, 65.0, 35.0)
    plant.advance(59.0)
    assert plant._stages.owners != even  # other executors ran its tasks
    plant.advance(100.0)
    assert sorted(plant._stages.owners.count(executor) for executor in range(4)) == [2, 2, 2, 2]


def test_a_new_query_has_no_state_to_load() -> None:
    first, second = [
        batch.stages[1].task_s for batch in batches(plant_of(1_000.0, trigger_s=10.0), 29.0)
    ]
    assert first == pytest.approx(second)


def test_an_executor_is_removed_only_after_its_state_has_moved() -> None:
    plant = plant_of(3_000.0, executors=4, state_partitions=8)
    list(batches(plant, 20.0))
    assert resize(plant, 2) == "shrinking"
    for _ in batches(plant, 26.0):
        assert executors_of_state(plant) <= {executor.number for executor in plant.fleet.executors}
    assert [executor.number for executor in plant.fleet.executors] == [
        0,
        1,
    ]  # the youngest was removed
    ledger = plant.ledger()
    gone_s = ledger.registered.t_s[-1]
    assert 20.0 < gone_s < 23.0
    assert ledger.paid.t_s[-1] == pytest.approx(gone_s + 1.0)


def test_executors_register_after_their_start_and_cost_from_the_request() -> None:
    plant = plant_of(executors=1, start_s=5.0, concurrent_start_s=2.0)
    plant.advance(10.0)
    assert resize(plant, 3) == "growing"
    plant.advance(30.0)
    ledger = plant.ledger()
    assert list(ledger.registered.t_s) == [0.0, 15.0, 17.0]
    assert list(ledger.paid.t_s) == [0.0, 10.0]
    assert list(ledger.paid.values) == [1.0, 3.0]
    assert ledger.executors_started == 2


def test_a_withdrawn_request_starts_no_executor() -> None:
    plant = plant_of(executors=1, start_s=5.0)
    plant.advance(10.0)
    resize(plant, 4)
    plant.advance(12.0)
    assert resize(plant, 1) == "steady"
    plant.advance(60.0)
    assert observation(plant, 60.0).executors == 1
    assert plant.ledger().paid.integral(0.0, 60.0) == pytest.approx(60.0 + 3 * 2.0)


def test_the_later_of_two_requests_is_withdrawn() -> None:
    plant = plant_of(executors=1, start_s=5.0, concurrent_start_s=0.0)
    for now, target in ((10.0, 2), (13.0, 3), (14.0, 2)):
        plant.advance(now)
        resize(plant, target)
    plant.advance(60.0)
    assert list(plant.ledger().registered.t_s) == [0.0, 15.0]


def test_a_repeated_target_changes_nothing() -> None:
    plant = plant_of(executors=1, start_s=5.0)
    for now in range(30):
        plant.advance(float(now))
        resize(plant, 3)
    assert len(plant.fleet.executors) == 3
    assert plant.ledger().targets.changes(0.0) == 1
    assert plant.ledger().executors_started == 2


def test_state_grows_with_new_keys_up_to_a_limit() -> None:
    plant = plant_of(1_000.0, state_keys=20_000.0)
    rows = [observation(plant, now).state_rows or 0 for now in (10.0, 20.0, 40.0, 200.0)]
    assert rows == sorted(rows)
    assert rows[0] > 5_000
    assert rows[3] == pytest.approx(20_000, rel=0.01)


def test_windowed_state_holds_the_rows_of_the_window() -> None:
    plant = plant_of(1_000.0, state_window_s=30.0, selectivity=0.5)
    assert (observation(plant, 25.0).state_rows or 0) == pytest.approx(0.5 * 24_000, rel=0.1)
    assert (observation(plant, 300.0).state_rows or 0) == pytest.approx(0.5 * 29_000, rel=0.1)


def test_larger_state_takes_longer_to_move() -> None:
    load_s = []
    for row_bytes in (1.0, 10_000.0):
        plant = plant_of(
            2_000.0,
            executors=2,
            state_partitions=8,
            state_keys=1e5,
            state_row_bytes=row_bytes,
            cold_s=0.0,
            cold_state_s=0.0,
        )
        list(batches(plant, 60.0))
        resize(plant, 3)
        load_s.append(max(batch.batch_s for batch in batches(plant, 80.0)))
    assert load_s[1] > load_s[0] + 0.2


def test_the_largest_partition_bounds_the_batch_time_from_below() -> None:
    even, skewed = (
        plant_of(10_000.0, executors=24, state_skew=skew, trigger_s=10.0) for skew in (1.0, 12.0)
    )
    assert median(batch.batch_s for batch in batches(skewed, 60.0)) > 3 * median(
        batch.batch_s for batch in batches(even, 60.0)
    )


def test_an_observation_has_the_signals_of_a_live_query() -> None:
    plant = plant_of(4_000.0, executors=3, trigger_s=10.0, output_share=0.25, state_keys=1e6)
    observation(plant, 20.0)
    o = observation(plant, 62.0)
    assert (o.executors, o.target, o.slots_per_executor, o.trigger_s) == (3, 3, 1, 10.0)
    assert o.input_rows_per_s == pytest.approx(4_000.0)
    assert o.batch_rows == 40_000
    assert o.batch_s is not None
    assert o.processed_rows_per_s == pytest.approx(40_000 / o.batch_s)
    assert o.output_rows_per_s == pytest.approx(10_000 / o.batch_s)
    assert o.lag_rows == pytest.approx(4_000 * 12)  # the running batch is not committed yet
    assert o.lag_s == pytest.approx(12.0)
    assert o.latency_s == pytest.approx(5.0 + o.batch_s)
    assert o.busy is not None
    assert 0 < o.busy < 1
    assert o.batch_parts_s is not None
    assert sum(o.batch_parts_s.values()) == pytest.approx(2 * o.batch_s)  # the total and its parts
    assert o.state_rows
    assert o.state_partitions == 24
    assert o.cpu is None  # as for a live query
    assert o.in_flight is not None
    assert o.in_flight.elapsed_s == pytest.approx(2.0)
    assert o.in_flight.rows == 40_000
    assert (o.in_flight.tasks_done or 0) + (o.in_flight.tasks_left or 0) == 48
    assert 0 < (o.in_flight.tasks_done or 0) < 48


def test_busy_is_the_task_share_of_slot_time() -> None:
    plant = plant_of(4_000.0, executors=2, trigger_s=10.0, source_task_s=0.0, state_commit_s=0.0)
    plant.advance(19.0)
    batch = plant.last
    assert batch is not None
    task_s = 40_000 * 2e-4
    observation(plant, 19.0)
    busy = observation(plant, 40.0 + 0.25 * batch.batch_s).busy  # over two and a quarter batches
    assert busy == pytest.approx(2.25 * task_s / (2 * (21.0 + 0.25 * batch.batch_s)), rel=1e-6)


def test_a_query_without_executors_is_not_idle() -> None:
    plant = plant_of(3_000.0, executors=1, start_s=300.0)
    plant.advance(20.9)
    plant.lose_executor(20.9)
    o = observation(plant, 120.0)
    assert o.batch_s is not None
    assert o.batch_s > 0
    assert (o.lag_rows or 0) > 90 * 3_000


def test_ds2_derives_true_rates_from_the_stages() -> None:
    plant = plant_of(
        4_000.0,
        executors=3,
        source_row_s=1e-3,
        source_task_s=0.0,
        state_row_s=2e-3,
        state_commit_s=0.0,
        selectivity=0.5,
    )
    observation(plant, 20.0)
    source, state = stage_needs(observation(plant, 60.5))
    assert source.slots == pytest.approx(4.0)
    assert state.slots == pytest.approx(4.0)


def test_signals_are_absent_before_the_first_batch() -> None:
    o = observation(plant_of(1_000.0), 0.0)
    absent = (
        o.input_rows_per_s,
        o.batch_s,
        o.batch_rows,
        o.latency_s,
        o.busy,
        o.stages,
        o.in_flight,
    )
    assert absent == (None,) * 7
    assert (o.lag_rows, o.lag_s) == (0.0, 0.0)
    assert (o.executors, o.lag_rows) == (2, 0.0)


def test_without_data_no_batch_runs_and_signals_are_zero_or_absent() -> None:
    plant = SparkPlant(
        spark_parameters({**CALM, "trigger_s": 1.0}), Steps((1_000.0, 0.0), 30.0), seed=1
    )
    observation(plant, 100.0)
    o = observation(plant, 110.0)
    assert (o.batch_s, o.batch_rows, o.processed_rows_per_s, o.input_rows_per_s, o.lag_rows) == (
        0.0,
        0,
        None,
        0.0,
        0.0,
    )


@pytest.mark.parametrize("trigger_s", [0.0, 5.0])
def test_data_after_a_pause_are_read_at_once_or_at_the_next_trigger(trigger_s: float) -> None:
    plant = SparkPlant(
        spark_parameters({**CALM, "trigger_s": trigger_s}), Steps((0.0, 100.0), 333.0), seed=1
    )
    assert next(batches(plant, 400.0)).begin_s == pytest.approx(
        335.0 if trigger_s else 333.0, abs=0.05
    )


def test_a_lost_executor_delays_its_batch_and_is_replaced() -> None:
    plant = plant_of(3_000.0, executors=3, trigger_s=10.0)
    list(batches(plant, 60.5))
    assert plant.running is not None
    usual_s = plant.running.batch_s
    plant.lose_executor(60.5)
    assert observation(plant, 60.6).executors == 2
    assert next(batches(plant, 90.0)).batch_s == pytest.approx(usual_s + 5.0, abs=0.5)
    assert observation(plant, 90.0).executors == 3


@pytest.mark.parametrize("lost_s", [18.0, 21.0])  # between two batches, and during one
def test_a_job_continues_when_an_executor_registers_again(lost_s: float) -> None:
    plant = plant_of(3_000.0, executors=1, start_s=60.0, trigger_s=10.0)
    plant.advance(lost_s)
    assert (plant.running is None) is (lost_s == 18.0)
    plant.lose_executor(lost_s)
    plant.lose_executor(lost_s)
    o = observation(plant, 70.0)
    assert (o.executors, o.target) == (0, 1)
    list(batches(plant, 300.0))
    assert plant.committed > 280 * 3_000


def test_a_job_without_executors_starts_a_batch_at_the_next_registration() -> None:
    plant = plant_of(3_000.0, executors=1, start_s=60.0, trigger_s=10.0)
    plant.advance(18.0)
    plant.lose_executor(18.0)
    assert next(batches(plant, 300.0)).begin_s == pytest.approx(78.0)


def test_a_slow_executor_slows_its_tasks_until_it_recovers() -> None:
    plant = plant_of(3_000.0, executors=3, trigger_s=10.0)
    usual_s = median(batch.batch_s for batch in batches(plant, 59.0))
    plant.slow_executor(5.0, 75.0, 59.0)
    slowed = [batch.batch_s for batch in batches(plant, 120.0)]
    assert max(slowed[:2]) > 1.5 * usual_s
    assert slowed[-1] == pytest.approx(usual_s, rel=0.01)
