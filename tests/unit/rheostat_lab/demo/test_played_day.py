from __future__ import annotations

import pytest

from rheostat.errors import RheostatError
from rheostat_lab.demo.played_day import ramp_of, rows_produced, within
from rheostat_lab.nexmark.curve import Curve, Point
from rheostat_lab.report.finished_run import CommittedBatch, Ramp

CURVE = Curve(
    start_s=1000.0,
    marks={"ramp_start_s": 10.0, "ramp_end_s": 14.0},
    points=(
        Point(t_s=0.0, rows=0, acked=0, rate_per_s=1.0),
        Point(t_s=1.0, rows=50, acked=50, rate_per_s=1.0),
    ),
)


def batch(first: int, end: int) -> CommittedBatch:
    return CommittedBatch(first, end, 0.0, 1.0, end - first)


def test_the_row_count_is_read_from_the_last_line_of_the_producer():
    assert rows_produced('a warning\n{"rows": 12, "unacked": 0}\n') == 12


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("", "the log is empty"),
        ("no broker\n", "no broker"),
        ("{}", "{}"),
        ("[1]", r"\[1\]"),
        ("7", "7"),
        ('{"rows": null}', "null"),
    ],
)
def test_a_failed_producer_is_reported_in_one_line(log, message):
    with pytest.raises(RheostatError, match=f"the load producer failed: .*{message}"):
        rows_produced(log)


def test_the_bid_that_closes_the_sessions_is_excluded_from_the_load():
    assert within([batch(0, 30), batch(30, 50), batch(50, 51)], CURVE) == [
        batch(0, 30),
        batch(30, 50),
    ]


def test_a_query_without_committed_batches_fails_with_one_line():
    with pytest.raises(RheostatError, match="committed no batch"):
        within([], CURVE)


def test_the_ramp_is_in_unix_seconds():
    assert ramp_of(CURVE) == Ramp(1010.0, 1014.0)
