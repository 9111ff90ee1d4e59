from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from rheostat.signals.rhythm import BatchTime
from rheostat.spark.running_queries import Rhythms

TRIGGER_S = 3.0


@dataclass
class Query:
    """A query whose batches begin every three seconds; ``reported`` may be ahead of its last batch,
    because a trigger without new rows reports the next number."""

    runId: str = "q"  # noqa: N815 - PySpark's name
    batches: list[BatchTime] = field(default_factory=list)
    reported: int = -1
    pausing: bool = True

    def end_batch(self, duration_s: float = 1.0) -> None:
        number = len(self.batches)
        self.batches.append(BatchTime(number, TRIGGER_S * number, duration_s))
        self.reported = number


class Times:
    """The JVM's side, which counts the reads."""

    def __init__(self) -> None:
        self.read = 0

    def last_batch(self, query: Query) -> int:
        return query.reported

    def batch_times(self, query: Query, most: int) -> list[BatchTime]:
        self.read += 1
        return query.batches[-most:]

    def pauses_after(self, query: Query) -> int | None:
        return query.reported if query.pausing else None

    def trigger_s(self, query: Query) -> float | None:
        return TRIGGER_S


def rhythms_of(times: Any) -> Rhythms:
    return Rhythms(times)


def test_a_batch_is_read_only_once():
    times, query = Times(), Query()
    rhythms = rhythms_of(times)
    assert rhythms.of(query).last is None
    query.end_batch()
    assert [rhythms.of(query).last for _ in range(3)] == [query.batches[-1]] * 3
    assert times.read == 1


def test_missed_batches_are_read_later():
    query, rhythms = Query(), rhythms_of(Times())
    for duration_s in (1.0, 2.0, 3.0):
        query.end_batch(duration_s)
    assert rhythms.of(query).recent_s == (1.0, 2.0, 3.0)
    assert rhythms.of(query).usual_batch_s == 2.0


def test_the_batch_after_a_move_is_not_typical_and_the_next_one_is():
    query, rhythms = Query(), rhythms_of(Times())
    query.end_batch()
    rhythms.of(query)
    rhythms.moves("q")
    for duration_s in (5.0, 1.2):
        query.end_batch(duration_s)
        rhythms.of(query)
    assert rhythms.of(query).quiet_s == (1.0, 1.2)


def test_a_trigger_without_new_rows_is_not_a_batch():
    query, rhythms = Query(), rhythms_of(Times())
    query.end_batch()
    query.reported += 1
    assert rhythms.of(query).last == query.batches[0]
    query.end_batch()
    assert rhythms.of(query).last == query.batches[1]


def test_a_query_pauses_after_its_last_batch_and_not_during_one():
    query, rhythms = Query(), rhythms_of(Times())
    query.end_batch()
    assert rhythms.pause_left_s(query, 1.2) == pytest.approx(1.8)
    query.pausing = False
    assert rhythms.pause_left_s(query, 1.2) == 0.0


def test_an_older_batch_indicates_no_pause():
    query, rhythms = Query(), rhythms_of(Times())
    query.end_batch()
    query.reported += 1
    assert rhythms.pause_left_s(query, 1.2) == 0.0


def test_ended_runs_are_forgotten():
    times, query = Times(), Query()
    rhythms = rhythms_of(times)
    query.end_batch()
    rhythms.of(query)
    rhythms.keep(["another"])
    rhythms.of(query)
    assert times.read == 2
