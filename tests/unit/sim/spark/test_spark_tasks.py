"""Tasks on slots: anywhere, local or not; and the placement of state partitions."""

from hypothesis import given
from hypothesis import strategies as st

from rheostat.sim.spark.spark_batch import Executor, StageRun, run_anywhere, run_at_home, strays
from rheostat.sim.spark.spark_stages import NOBODY, adopted, rebalanced, step

owners = st.lists(st.integers(-1, 6), min_size=1, max_size=30)
executors = st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True)


def stage() -> StageRun:
    return StageRun("s", ("kafka",), 10.0, 5.0)


def warm(count: int) -> list[Executor]:
    return [Executor(n, 0.0, cold=False) for n in range(count)]


def test_tasks_run_in_waves_on_the_first_free_slot() -> None:
    run = stage()
    assert run_anywhere(run, [1.0, 2.0, 1.0, 1.0], warm(2), 1, 10.0, 0.0) == 13.0
    assert run.ends_s == [11.0, 12.0, 12.0, 13.0]


def test_an_executor_runs_one_task_per_slot() -> None:
    assert run_anywhere(stage(), [1.0] * 4, warm(1), 4, 0.0, 0.0) == 1.0


def test_only_the_first_task_of_a_cold_executor_is_cold() -> None:
    run, cold = stage(), [Executor(0, 0.0), *warm(2)[1:]]
    run_anywhere(run, [1.0] * 4, cold, 1, 0.0, 5.0)
    assert run.task_s == [6.0, 1.0, 1.0, 1.0]


def test_a_local_task_waits_while_other_executors_are_idle() -> None:
    run = stage()
    assert run_at_home(run, [1.0, 1.0, 1.0], [7, 7, 7], {7: 1.0, 8: 1.0}, 1, 0.0) == 3.0
    assert run_at_home(stage(), [1.0, 1.0, 1.0], [7, 7, 7], {7: 2.0, 8: 1.0}, 3, 0.0) == 2.0


def test_tasks_shorter_than_the_locality_wait_stay_local() -> None:
    homes = [0, 0, 0, 0]
    assert strays([2.9] * 4, homes, {0: 1.0, 1: 1.0}, 1, 3.0) == homes


def test_a_task_longer_than_the_locality_wait_lets_others_run_elsewhere() -> None:
    assert strays([10.0] * 4, [0, 0, 0, 0], {0: 1.0, 1: 1.0, 2: 1.0}, 1, 3.0) == [0, 1, 2, 0]


def test_after_one_stray_task_idle_executors_do_not_wait_again() -> None:
    assert strays([5.0] * 4, [0, 0, 0, 0], {0: 1.0, 1: 1.0, 2: 1.0}, 1, 3.0) == [0, 1, 2, 0]


def test_without_a_locality_wait_idle_executors_take_tasks_at_once() -> None:
    placements = strays([1.0] * 6, [0] * 6, {0: 1.0, 1: 1.0, 2: 1.0}, 1, 0.0)
    assert sorted(placements.count(executor) for executor in (0, 1, 2)) == [2, 2, 2]


def test_a_stage_reports_the_inputs_of_ds2() -> None:
    run = stage()
    run_anywhere(run, [1.0, 5.0, 2.0], warm(3), 1, 0.0, 0.0)
    result = run.stage
    assert (
        result.rows_in,
        result.rows_out,
        result.busy_s,
        result.tasks,
        result.task_max_s,
        result.task_median_s,
    ) == (10.0, 5.0, 8.0, 3, 5.0, 2.0)
    assert result.upstream == ("kafka",)


@given(owners=owners, executors=executors)
def test_rebalanced_shares_differ_by_at_most_one(owners: list[int], executors: list[int]) -> None:
    shares = [rebalanced(owners, executors).count(executor) for executor in executors]
    assert sum(shares) == len(owners)
    assert max(shares) - min(shares) <= 1


@given(owners=owners, executors=executors)
def test_without_placement_only_orphaned_partitions_move(
    owners: list[int], executors: list[int]
) -> None:
    for old, new in zip(owners, adopted(owners, executors), strict=True):
        assert new == old if old in executors else new in executors


def test_orphaned_partitions_go_to_executors_with_the_fewest() -> None:
    assert adopted([NOBODY] * 6, [3, 1, 2]) == [1, 2, 3, 1, 2, 3]
    assert adopted([1, 1, 9, 9, 9], [1, 2]) == [1, 1, 2, 2, 1]


def test_a_step_moves_the_allowed_number_plus_orphaned_partitions() -> None:
    assert step([0, 0, 5, 0], [1, 1, 1, 0], living=[0, 1], most=1) == [1, 0, 1, 0]
    assert step([0, 0, 5, 0], [1, 1, 1, 0], living=[0, 1], most=9) == [1, 1, 1, 0]
