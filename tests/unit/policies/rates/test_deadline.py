from dataclasses import replace

import pytest

from rheostat.errors import BadInput
from rheostat.model import Memory, Observation
from rheostat.policies.rates.deadline import Deadline
from rheostat.testing.contracts import follow

HOUR = Deadline(within_s=3600.0, planned=1.0, reserve=0.0)


def at(t_s: float, lag_rows: float | None, executors: int = 1, batch: int = 0) -> Observation:
    """A job whose executors process 1,000 rows/s each."""
    batch_rows = executors * (10_000 + batch)
    return Observation(
        t_s=t_s,
        executors=executors,
        lag_rows=lag_rows,
        batch_s=batch_rows / 1000 / executors,
        batch_rows=batch_rows,
    )


@pytest.mark.parametrize(
    ("lag_rows", "target"), [(3_600_000.0, 1), (7_200_000.0, 2), (7_200_001.0, 3), (0.0, 1)]
)
def test_the_size_processes_the_backlog_before_the_deadline(lag_rows, target):
    assert follow(HOUR, [at(0.0, lag_rows)])[0][0].target == target


def test_less_time_needs_more_executors_up_to_a_bound():
    script = [at(60.0 * minute, 7_200_000.0, batch=minute) for minute in range(120)]
    targets = [decision.target for decision in follow(HOUR, script)[0]]
    assert targets == sorted(targets)
    assert (targets[0], targets[30], max(targets)) == (2, 4, 20)


def test_a_run_meets_its_deadline_without_surplus_executors():
    sizes: list[int] = []
    memory: Memory = {}
    size, lag_rows, t_s = 1, 11_000_000.0, 0.0
    while lag_rows > 0:
        observation = at(t_s, lag_rows, size, batch=len(sizes))
        decisions, memory = follow(Deadline(within_s=3600.0), [observation], memory)
        size = decisions[0].target
        sizes.append(size)
        lag_rows, t_s = lag_rows - 30.0 * 1000 * size, t_s + 30.0
    assert max(sizes) == 4
    assert 0.8 * 3600.0 <= t_s <= 3600.0


def test_a_scale_in_requires_a_reserve():
    policy = replace(HOUR, reserve=0.2)
    assert follow(policy, [at(0.0, 7_000_000.0, executors=3)])[0][0].target == 3
    assert follow(policy, [at(0.0, 6_000_000.0, executors=3)])[0][0].target == 2


@pytest.mark.parametrize(
    "before",
    [[at(0.0, 5e6), at(60.0, 0.0)], [at(0.0, 5e6), at(60.0, 5e6), at(120.0, 5e6)]],
    ids=["no backlog", "a gap"],
)
def test_a_new_run_gets_the_full_time(before):
    decisions, _ = follow(HOUR, [*before, at(3500.0, 7_200_000.0, batch=1)])
    assert decisions[-1].evidence["left_s"] == 3600.0


def test_one_slow_batch_does_not_change_the_size():
    slow = replace(at(60.0, 7_000_000.0, batch=4), batch_s=100.0)
    script = [*(at(10.0 * n, 7_100_000.0, batch=n) for n in range(4)), slow]
    assert [decision.target for decision in follow(HOUR, script)[0]] == [2] * 5


@pytest.mark.parametrize(
    ("observation", "reason"),
    [
        (at(0.0, None), "size kept: backlog or executors are unknown"),
        (replace(at(0.0, 5.0), batch_s=None), "size kept: no throughput was measured yet"),
    ],
)
def test_without_backlog_or_throughput_the_size_is_kept(observation, reason):
    assert follow(HOUR, [observation])[0][0].reason == reason


@pytest.mark.parametrize("given", [{"within_s": 0.0}, {"planned": 1.5}, {"reserve": -1.0}])
def test_invalid_parameters_are_rejected_in_one_line(given):
    with pytest.raises(BadInput, match="must be"):
        Deadline(**given)
