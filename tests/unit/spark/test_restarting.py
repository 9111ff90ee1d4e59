"""The part of the job in a restart: requests, reports, and queries stopped after their batches."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

from rheostat.actions import RepartitionState
from rheostat.journal.control_channel import LOOP, ControlChannel, Order
from rheostat.model import Decision
from rheostat.spark.restarting import DRAINING_S, IDLE_S, JobWatch, RestartActuator, drain


class Queries:
    """Queries by their last batch; ``resting`` ones are idle."""

    def __init__(self, **batches: int) -> None:
        self.batches = batches
        self.resting: set[str] = set()

    def active(self) -> Collection[str]:
        return list(self.batches)

    def last_batch(self, run_id: str) -> int:
        return self.batches[run_id]

    def rests(self, run_id: str) -> bool:
        return run_id in self.resting

    def checkpoint(self, run_id: str) -> str | None:
        return f"/cp/{run_id}"

    def sink(self, run_id: str) -> str | None:
        return "/out" if run_id == "b" else None

    def stop(self, run_id: str) -> None:
        del self.batches[run_id]


@pytest.fixture
def channel(tmp_path: Path) -> ControlChannel:
    channel = ControlChannel(tmp_path / "restart")
    channel.write_order(Order(run=2, executors=1))
    return channel


def watch_of(
    queries: Any, channel: ControlChannel, started: Callable[[], int] = lambda: 0
) -> JobWatch:
    return JobWatch(queries, channel, 2, started)


def test_a_job_reports_its_checkpoints_with_its_first_batch(channel: ControlChannel) -> None:
    queries = Queries(a=-1, b=-1)
    watch = watch_of(queries, channel)
    watch.poll(10.0)
    assert channel.report() is None
    queries.batches["b"] = 0
    watch.poll(11.0)
    report = channel.report()
    assert report is not None
    assert (report.run, report.works_s, report.checkpoints) == (2, 11.0, ("/cp/a", "/cp/b"))
    assert report.sinks == {"/cp/b": "/out"}


def test_a_later_query_is_reported_too(channel: ControlChannel) -> None:
    queries = Queries(a=0)
    watch = watch_of(queries, channel)
    watch.poll(10.0)
    queries.batches["b"] = -1
    watch.poll(11.0)
    del queries.batches["a"]
    watch.poll(12.0)
    report = channel.report()
    assert report is not None
    assert (report.works_s, report.checkpoints) == (10.0, ("/cp/a", "/cp/b"))
    assert report.sinks == {"/cp/b": "/out"}


def test_every_query_is_stopped_after_a_batch_or_while_idle(channel: ControlChannel) -> None:
    queries = Queries(a=5, b=7)
    watch = watch_of(queries, channel)
    watch.poll(10.0)
    assert watch.pause_s(10.0) == IDLE_S
    channel.write_order(Order(run=2, executors=1, drain=True))
    watch.poll(11.0)
    assert queries.batches == {"a": 5, "b": 7}
    assert watch.pause_s(11.0) == DRAINING_S
    queries.batches["a"] = 6
    watch.poll(12.0)
    assert queries.batches == {"b": 7}
    queries.resting = {"b"}
    watch.poll(13.0)
    watch.poll(14.0)
    report = channel.report()
    assert report is not None
    assert report.drained_s == 13.0


def test_an_order_for_another_run_is_ignored(channel: ControlChannel) -> None:
    queries = Queries(a=5)
    queries.resting = {"a"}
    channel.write_order(Order(run=1, executors=1, drain=True))
    watch_of(queries, channel).poll(10.0)
    assert queries.batches == {"a": 5}


def test_a_one_batch_job_is_done_when_its_queries_have_ended(
    channel: ControlChannel,
) -> None:
    channel.write_order(Order(run=2, executors=1, once=True))
    started = 0
    watch = watch_of(Queries(), channel, lambda: started)
    watch.poll(10.0)
    assert channel.report() is None
    started = 1
    watch.poll(11.0)
    report = channel.report()
    assert report is not None
    assert report.drained_s == 11.0


class Query:
    """A Spark query with a sequence of statuses, the last of which persists."""

    def __init__(self, session: Session, *active: bool) -> None:
        self.runId, self.lastProgress = object(), {"batchId": 7}
        self._session, self._active = session, list(active)

    @property
    def status(self) -> dict[str, Any]:
        is_active = self._active.pop(0) if len(self._active) > 1 else self._active[0]
        return {"isTriggerActive": is_active, "message": "Writing offsets to log"}

    def stop(self) -> None:
        self._session.active.remove(self)


class Session:
    def __init__(self, *active: bool) -> None:
        self.active = [Query(self, *active)]

    @property
    def streams(self) -> Session:
        return self


def test_a_session_is_drained_between_two_batches() -> None:
    session = Session(True, True, False)
    (query,) = session.active
    drain(session)
    assert (session.active, query._active) == ([], [False])


def test_a_query_that_does_not_drain_is_stopped_after_the_limit() -> None:
    session = Session(True)
    drain(session, limit_s=0.0)
    assert session.active == []


def actuator(channel: ControlChannel) -> RestartActuator:
    return RestartActuator(
        channel, Order(run=2, executors=1), watch_of(Queries(), channel), lambda: False
    )


def test_a_held_actuator_withdraws_its_request(channel: ControlChannel) -> None:
    job = actuator(channel)
    job.rescale(Decision(target=3, reason="lag"), 10.0)
    job.hold()
    assert channel.request(LOOP) is None


def test_a_new_target_is_requested_and_the_current_size_removes_the_request(
    channel: ControlChannel,
) -> None:
    job = actuator(channel)
    assert job.rescale(Decision(target=3, reason="lag"), 10.0).phase == "growing"
    request = channel.request(LOOP)
    assert request is not None
    assert (request.run, request.executors, request.partitions, request.reason) == (
        2,
        3,
        None,
        "lag",
    )
    assert job.rescale(Decision(target=1, reason=""), 11.0).phase == "steady"
    assert channel.request(LOOP) is None


def test_limiting_state_partitions_are_requested_at_the_same_size(
    channel: ControlChannel,
) -> None:
    action = RepartitionState(4, 8, "restart it")
    decision = Decision(target=1, reason="size kept", actions=(action,))
    rescaling = actuator(channel).rescale(decision, 10.0)
    request = channel.request(LOOP)
    assert request is not None
    assert (request.executors, request.partitions, request.reason) == (1, 8, f"size kept; {action}")
    assert rescaling.detail == "8 state partitions are requested"


def test_an_unreadable_order_is_ignored(channel: ControlChannel) -> None:
    (channel.folder / "order.json").write_text('{"run": ')
    assert channel.order() is None
