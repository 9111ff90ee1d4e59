"""For how long a session runs nothing, with the queries and jobs of a fake session."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.signals.rhythm import BatchTime
from rheostat.spark.running_queries import QuietTime, continuous_line

HOUR_S = 3600.0


class Queries:
    """Queries with a trigger interval, whose last batch began at ``start_s`` and took a minute."""

    def __init__(self, trigger_s: float | None, real_time_s: float | None = None) -> None:
        self._trigger_s, self._real_time_s = trigger_s, real_time_s
        self.start_s = HOUR_S
        self.pauses = True

    def last_batch(self, query: Any) -> int:
        return 0

    def batch_times(self, query: Any, most: int) -> list[BatchTime]:
        return [BatchTime(0, self.start_s, 60.0)]

    def pauses_after(self, query: Any) -> int | None:
        return 0 if self.pauses else None

    def trigger_s(self, query: Any) -> float | None:
        return self._trigger_s

    def real_time_s(self, query: Any) -> float | None:
        return self._real_time_s


def session(*names: str, jobs: tuple[int, ...] = ()) -> Any:
    tracker = SimpleNamespace(getActiveJobsIds=lambda: jobs)
    active = [SimpleNamespace(runId=name, name=name) for name in names]
    return SimpleNamespace(
        streams=SimpleNamespace(active=active),
        sparkContext=SimpleNamespace(statusTracker=lambda: tracker),
    )


def quiet_time(spark: Any, queries: Any) -> QuietTime:
    return QuietTime(spark, queries)


def test_a_session_without_queries_and_jobs_is_quiet_without_end() -> None:
    assert quiet_time(session(), Queries(None))(0.0) == math.inf


def test_a_job_of_no_query_is_work() -> None:
    assert quiet_time(session(jobs=(7,)), Queries(None))(0.0) == 0.0


def test_an_available_now_query_is_work_until_it_ends() -> None:
    assert quiet_time(session("orders"), Queries(None))(2 * HOUR_S - 1) == 0.0


def test_the_pause_of_a_long_trigger_is_quiet_until_the_next_batch() -> None:
    queries = Queries(HOUR_S)
    quiet = quiet_time(session("orders"), queries)
    assert quiet(HOUR_S + 100.0) == HOUR_S - 100.0
    queries.pauses = False
    assert quiet(HOUR_S + 101.0) == 0.0


def test_a_continuously_running_query_is_logged_once(caplog: Any) -> None:
    quiet = quiet_time(session("orders"), Queries(10.0))
    quiet(0.0)
    quiet(5.0)
    assert caplog.messages == [
        "rheostat: min executors is 0, but query orders runs continuously (trigger interval 10 s)"
        " and keeps at least 1; use min 1, trigger(availableNow=True) or an interval of at least"
        " 600 s"
    ]


@pytest.mark.parametrize(
    ("queries", "line"),
    [
        (Queries(None, real_time_s=300.0), "(real-time mode)"),
        (Queries(0.0), "(trigger interval 0 s)"),
        (Queries(None), None),
        (Queries(600.0), None),
    ],
)
def test_a_query_that_never_pauses_for_long_is_recognised(queries: Any, line: str | None) -> None:
    reason = continuous_line(SimpleNamespace(name="orders"), queries)
    assert (reason is None) == (line is None)
    assert line is None or line in str(reason)
