from __future__ import annotations

from typing import Any

import pytest

from rheostat.signals.rhythm import BatchTime, Rhythm
from rheostat.spark.resizing.state_loading import IN_SHARE, OUT_SHARE, StateLoading, slack_s


@pytest.mark.parametrize(
    ("batch_s", "slo_s", "growing", "expected"),
    [
        (1.0, 10.0, True, OUT_SHARE),
        (1.0, 10.0, False, IN_SHARE),
        (9.9, 10.0, True, 0.1),
        (12.0, 10.0, True, 0.0),
    ],
)
def test_slack_is_a_share_of_the_batch_within_the_objective(batch_s, slo_s, growing, expected):
    assert slack_s(batch_s, slo_s, growing) == pytest.approx(expected)


def loading() -> StateLoading:
    queries: Any = None
    return StateLoading(queries, None, slo_s=10.0)


class Query:
    """Runs batches of given durations, before each of which some partitions were sent."""

    def __init__(self, loads: StateLoading, run_id: str = "q") -> None:
        self.loads, self.run_id, self.number, self.rhythm = loads, run_id, 0, Rhythm()

    def run(self, batch_s: float, units: int = 0, cold: bool = False) -> None:
        if units:
            self.loads.sent(self.run_id, units, cold)
        self.number += 1
        self.rhythm = self.rhythm.after(BatchTime(self.number, 0.0, batch_s), moved=units > 0)
        self.loads.learn(self.run_id, self.rhythm)


def test_the_load_time_of_a_partition_is_derived_from_batches_with_moves():
    loads = loading()
    query = Query(loads)
    assert loads.slack_and_load_s(True, False) == (None, None)
    for batch_s in (1.0, 1.1, 0.9):
        query.run(batch_s)
    assert loads.slack_and_load_s(True, False) == (OUT_SHARE, None)
    for batch_s, units in ((1.3, 3), (1.4, 2), (1.2, 2)):
        query.run(batch_s, units)
    assert loads.slack_and_load_s(True, False) == pytest.approx((OUT_SHARE, 0.1))


def test_loads_on_a_cold_executor_are_not_measured_and_start_with_one_partition():
    loads = loading()
    query = Query(loads)
    query.run(1.0)
    query.run(4.0, 1, cold=True)
    assert loads.slack_and_load_s(False, False) == (IN_SHARE, None)
    query.run(1.05, 1)
    slack, load = loads.slack_and_load_s(False, cold=True)
    assert slack == load == IN_SHARE


def test_load_times_are_positive_and_a_batch_counts_once():
    loads = loading()
    query = Query(loads)
    query.run(1.0)
    loads.sent("q", 4, False)
    loads.learn("q", query.rhythm)
    query.run(0.8, 4)
    _, load = loads.slack_and_load_s(False, False)
    assert load is not None
    assert load > 0


def test_the_query_with_the_least_slack_counts():
    loads = loading()
    for run_id, batch_s, with_move_s in (("slow", 2.0, 2.2), ("quick", 0.5, 1.0)):
        query = Query(loads, run_id)
        query.run(batch_s)
        query.run(with_move_s, 1)
    assert loads.slack_and_load_s(True, False) == pytest.approx((0.5 * OUT_SHARE, 0.5))
    loads.keep(["slow"])
    assert loads.slack_and_load_s(True, False) == pytest.approx((2 * OUT_SHARE, 0.2))
