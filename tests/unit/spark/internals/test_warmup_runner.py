from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.internals import placed_tasks, plans
from rheostat.spark.internals.placed_tasks import COMPUTES, READS, WarmupRunner

GROUP = "a group"


class Tasks:
    """Records which tasks run where."""

    def __init__(self) -> None:
        self.jobs: list[tuple[str, str]] = []
        self.ran: list[tuple[str, str, str, list[int]]] = []
        self.shuffled: list[tuple[str, str]] = []

    def call(self, group: str, job: str) -> None:
        self.jobs.append((group, job))

    def run(self, plan: str, executor: str, host: str, numbers: Iterable[int]) -> None:
        self.ran.append((plan, executor, host, list(numbers)))

    def rows_on(self, executor: str, host: str) -> Any:
        rows = SimpleNamespace(count=lambda: self.shuffled.append((executor, host)))
        return SimpleNamespace(repartition=lambda partitions: rows)


def query(rows: int = 100, partitions: tuple[int, ...] = (4,)) -> Any:
    """Return a query whose last batch had these rows, with operators with these partitions."""
    operators = [SimpleNamespace(numShufflePartitions=lambda n=n: n) for n in partitions]
    progress = SimpleNamespace(numInputRows=lambda: rows, stateOperators=lambda: operators)
    return SimpleNamespace(_jsq=SimpleNamespace(lastProgress=lambda: progress))


@pytest.fixture
def tasks() -> Tasks:
    return Tasks()


@pytest.fixture
def runner(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> WarmupRunner:
    """A warm-up with three executors, on plans whose parts are known by name."""
    monkeypatch.setattr(plans, "last_plan", lambda query: "plan")
    monkeypatch.setattr(plans, "reading_parts", lambda plan: ["source a", "source b"])
    monkeypatch.setattr(plans, "below", lambda plan, names: ["counts"])
    monkeypatch.setattr(plans, "is_harmless", lambda part, jvm: part != "user's")
    executors: Any = SimpleNamespace(registered=lambda: 3)
    fake_tasks: Any = tasks
    gateway: Any = SimpleNamespace(jvm=None)
    return WarmupRunner(gateway, fake_tasks, executors)


def test_the_source_is_read_twice_on_the_new_executor_and_shuffled_once(
    runner: WarmupRunner, tasks: Tasks
) -> None:
    assert runner.read_again(query(), "7", "a", GROUP)
    assert tasks.jobs == [(GROUP, READS)]
    assert tasks.ran == [("source a", "7", "a", [0, 1]), ("source b", "7", "a", [0, 1])]
    assert tasks.shuffled == [("7", "a")]


def test_the_state_partition_of_the_executors_number_is_computed(
    runner: WarmupRunner, tasks: Tasks
) -> None:
    assert runner.compute_again(query(), "7", "a", GROUP)
    assert tasks.jobs == [(GROUP, COMPUTES)]
    assert tasks.ran == [("counts", "7", "a", [7])]


def test_a_large_batch_is_not_rerun(runner: WarmupRunner, tasks: Tasks) -> None:
    large = query(rows=placed_tasks._ROWS + 1)
    assert not runner.read_again(large, "7", "a", GROUP)
    assert not runner.compute_again(large, "7", "a", GROUP)
    assert (tasks.ran, tasks.jobs) == ([], [])


def test_a_part_that_must_not_be_rerun_disqualifies_the_plan(
    runner: WarmupRunner, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "reading_parts", lambda plan: ["source a", "user's"])
    monkeypatch.setattr(plans, "below", lambda plan, names: ["user's"])
    assert not runner.read_again(query(), "7", "a", GROUP)
    assert not runner.compute_again(query(), "7", "a", GROUP)
    assert tasks.ran == []


def test_a_plan_without_a_reading_part_is_not_rerun(
    runner: WarmupRunner, tasks: Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "reading_parts", lambda plan: [])
    assert not runner.read_again(query(), "7", "a", GROUP)
    assert tasks.shuffled == []


@pytest.mark.parametrize(
    "partitions",
    [
        pytest.param((2,), id="an executor would go without a partition"),
        pytest.param((4, 4), id="one of the operators is no aggregation"),
    ],
)
def test_state_is_not_recomputed_where_that_could_do_harm(
    runner: WarmupRunner, tasks: Tasks, partitions: tuple[int, ...]
) -> None:
    assert not runner.compute_again(query(partitions=partitions), "7", "a", GROUP)
    assert tasks.ran == []


def test_a_stateless_query_recomputes_no_state(
    runner: WarmupRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "below", lambda plan, names: [])
    assert not runner.compute_again(query(partitions=()), "7", "a", GROUP)


@pytest.mark.parametrize(
    ("plan", "python"),
    [("+- ArrowEvalPython [f(x)]", True), ("MapInPandas", True), ("+- HashAggregate", False)],
)
def test_a_plan_with_python_operators_needs_python_workers(
    runner: WarmupRunner, plan: str, python: bool
) -> None:
    java = SimpleNamespace(explainInternal=lambda extended: plan)
    assert runner.uses_python(SimpleNamespace(_jsq=java)) is python


def test_an_unreadable_plan_needs_no_python(runner: WarmupRunner, absent: Any) -> None:
    assert not runner.uses_python(SimpleNamespace(_jsq=absent))
