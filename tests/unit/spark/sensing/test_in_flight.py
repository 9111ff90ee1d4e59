from __future__ import annotations

from types import SimpleNamespace

import pytest

from rheostat.model import InFlight
from rheostat.spark.sensing.progress import batch_of, batch_start_s, in_flight

RUNNING = {"message": "Processing new data", "isTriggerActive": True, "isDataAvailable": True}
CLEANING = {
    "message": "No new data but cleaning up state",
    "isTriggerActive": True,
    "isDataAvailable": False,
}
ASKING = {
    "message": "Getting offsets from KafkaV2",
    "isTriggerActive": True,
    "isDataAvailable": False,
}
WAITING = {"message": "Waiting for next trigger", "isTriggerActive": False, "isDataAvailable": True}


class Tracker:
    """Stages by ID: (tasks, completed), or None for one that has just ended."""

    def __init__(self, stages: dict[int, tuple[int, int] | None]) -> None:
        self.stages = stages

    def getActiveStageIds(self):  # noqa: N802
        return list(self.stages)

    def getStageInfo(self, stage):  # noqa: N802
        info = self.stages[stage]
        return info and SimpleNamespace(numTasks=info[0], numCompletedTasks=info[1])


@pytest.fixture
def last(event):
    """A batch from 1000.0 to 1000.4."""
    return batch_of(event(3, 1000.0, 0.4, []))


@pytest.fixture
def late(event):
    """A batch from 1000.0 to 1002.5."""
    return batch_of(event(3, 1000.0, 2.5, []))


@pytest.mark.parametrize("status", [RUNNING, CLEANING])
def test_a_running_batch_is_reported_with_its_age(status, last):
    assert in_flight(status, last, 1.0, 1004.0) == InFlight(elapsed_s=3.0)


@pytest.mark.parametrize("status", [WAITING, ASKING, {}])
def test_no_batch_runs_between_batches_or_while_idle(status, last):
    assert in_flight(status, last, 1.0, 1004.0) is None


def test_the_age_of_the_first_batch_is_unknown():
    assert in_flight(RUNNING, None, 1.0, 1004.0) is None


def test_consecutive_batches_start_at_the_end_of_the_last_one(last, late):
    assert [batch_start_s(last, 0), batch_start_s(late, None)] == [1000.4, 1002.5]


def test_interval_batches_start_at_multiples_or_late(last, late):
    assert batch_start_s(last, 1.0) == 1001.0
    assert batch_start_s(last, 7.0) == 1001.0  # 143 x 7
    assert batch_start_s(late, 1.0) == 1002.5


@pytest.mark.parametrize(("trigger_s", "start_s"), [(0.0, 1600.3), (1.0, 1601.0), (10.0, 1610.0)])
def test_the_age_of_a_batch_excludes_the_pause_before_it(last, trigger_s, start_s):
    assert batch_start_s(last, trigger_s, quiet_s=1600.3) == start_s
    running = in_flight(RUNNING, last, trigger_s, 1602.0, quiet_s=1600.3)
    assert running is not None
    assert running.elapsed_s == pytest.approx(max(0.0, 1602.0 - start_s))


def test_a_clock_set_back_gives_no_negative_age(last):
    assert in_flight(RUNNING, last, 1.0, 900.0) == InFlight(elapsed_s=0.0)


def test_tasks_are_summed_over_the_active_stages(last):
    running = in_flight(RUNNING, last, 1.0, 1004.0, Tracker({1: (8, 3), 2: (4, 0), 3: None}))
    assert running == InFlight(elapsed_s=3.0, tasks_done=3, tasks_left=9)


@pytest.mark.parametrize("stages", [{}, {3: None}])
def test_tasks_are_absent_without_an_active_stage(stages, last):
    assert in_flight(RUNNING, last, 1.0, 1004.0, Tracker(stages)) == InFlight(elapsed_s=3.0)
