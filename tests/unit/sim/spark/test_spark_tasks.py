"""Tasks on slots: anywhere, local or not; and the placement of state partitions."""

from hypothesis import given
from hypothesis import strategies as st

from rheostat.sim.spark.spark_batch import Executor, StageRun, run_anywhere, run_at_home, strays
from rheostat.sim.spark.spark_stages import NOBODY, adopted, rebalanced, step

owners = st.lists(st.integers(-1, 6), min_size=1, max_size=30)
executors = st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True)


def stage() -> StageRun:
    return StageRun("s", "kafka", 10.0, 5.0)


def warm(count: int) -> list[Executor]:
    return [Executor(n, 0.0, cold=False) for n in range(count)]


def test_tasks_run_in_waves_on_the_slot_that_is_free_first() -> None:
    run = stage()
    assert run_anywhere(run, [1.0, 2.0, 1.0, 1.0], warm(2), 1, 10.0, 0.0) == 13.0
    assert run.ends_s == [11.0, 12.0, 12.0, 13.0]


def test_an_executor_runs_a_task_on_each_of_its_slots() -> None:
    assert run_anywhere(stage(), [1.0] * 4, warm(1), 4, 0.0, 0.0) == 1.0


def test_only_the_first_task_of_a_cold_executor_is_cold() -> None:
    run, cold = stage(), [Executor(0, 0.0), *warm(2)[1:]]
    run_anywhere(run, [1.0] * 4, cold, 1, 0.0, 5.0)
    assert run.task_s == [6.0, 1.0, 1.0, 1.0]


def test_at_home_a_task_waits_while_others_are_idle() -> None:
    run = stage()
    assert run_at_home(run, [1.0, 1.0, 1.0], [7, 7, 7], {7: 1.0, 8: 1.0}, 1, 0.0) == 3.0
    assert run_at_home(stage(), [1.0, 1.0, 1.0], [7, 7, 7], {7: 2.0, 8: 1.0}, 3, 0.0) == 2.0


def test_tasks_shorter_than_the_wait_never_stray() -> None:
    homes = [0, 0, 0, 0]
    assert strays([2.9] * 4, homes, {0: 1.0, 1: 1.0}, 1, 3.0) == homes


def test_a_task_longer_than_the_wait_lets_the_next_ones_stray() -> None:
    assert strays([10.0] * 4, [0, 0, 0, 0], {0: 1.0, 1: 1.0, 2: 1.0}, 1, 3.0) == [0, 1, 2, 0]


def test_once_one_has_strayed_the_next_idle_need_not_wait_again() -> None:
    assert strays([5.0] * 4, [0, 0, 0, 0], {0: 1.0, 1: 1.0, 2: 1.0}, 1, 3.0) == [0, 1, 2, 0]


def test_without_a_wait_the_idle_help_at_once() -> None:
    ran = strays([1.0] * 6, [0] * 6, {0: 1.0, 1: 1.0, 2: 1.0}, 1, 0.0)
    assert sorted(ran.count(executor) for executor in (0, 1, 2)) == [2, 2, 2]


def test_a_stage_reports_what_ds2_needs() -> None:
    run = stage()
    run_anywhere(run, [1.0, 5.0, 2.0], warm(3), 1, 0.0, 0.0)
    told = run.stage
    assert (
        told.rows_in,
        told.rows_out,
        told.busy_s,
        told.tasks,
        told.task_max_s,
        told.task_median_s,
    ) == (10.0, 5.0, 8.0, 3, 5.0, 2.0)
    assert told.upstream == ("kafka",)


@given(owners=owners, executors=executors)
def test_rebalanced_shares_differ_by_one_at_most(owners: list[int], executors: list[int]) -> None:
    shares = [rebalanced(owners, executors).count(executor) for executor in executors]
    assert sum(shares) == len(owners)
    assert max(shares) - min(shares) <= 1


@given(owners=owners, executors=executors)
def test_without_placement_only_orphans_move(owners: list[int], executors: list[int]) -> None:
    for old, new in zip(owners, adopted(owners, executors), strict=True):
        assert new == old if old in executors else new in executors


def test_orphans_go_to_those_that_have_the_fewest() -> None:
    assert adopted([NOBODY] * 6, [3, 1, 2]) == [1, 2, 3, 1, 2, 3]
    assert adopted([1, 1, 9, 9, 9], [1, 2]) == [1, 1, 2, 2, 1]


def test_a_step_moves_so_many_and_those_of_the_dead() -> None:
    assert step([0, 0, 5, 0], [1, 1, 1, 0], living=[0, 1], most=1) == [1, 0, 1, 0]
    assert step([0, 0, 5, 0], [1, 1, 1, 0], living=[0, 1], most=9) == [1, 1, 1, 0]
