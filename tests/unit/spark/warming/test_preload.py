from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException

from rheostat.spark.warming.preload import FIRST_S, GROUP, SPARE_S, Preload, fitting


@dataclass
class Query:
    runId: str = "q"  # noqa: N815 - PySpark's name
    pauses: Iterator[float] = field(default_factory=lambda: itertools.repeat(1.5))
    """The remaining seconds of its pause, at each read."""


@dataclass
class Tasks:
    """Loads each partition in ``takes_s`` seconds; nothing else takes time."""

    takes_s: float = 0.1
    loads: bool = True
    fault: Exception | None = None
    loaded: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    now: float = 0.0

    def pause_left_s(self, query: Query, now: float) -> float:
        self.now += 0.025
        return next(query.pauses)

    def preload(self, query: Query, partitions: Collection[int], group: str) -> bool:
        assert group == GROUP
        self.gate.wait(10)
        if self.fault:
            raise self.fault
        self.loaded.append((query.runId, tuple(partitions)))
        self.now += self.takes_s * len(partitions)
        return self.loads


def run_preload(preload: Preload, tasks: Tasks, sent: dict[tuple[str, int], str]) -> None:
    preload.begin(sent)
    tasks.gate.set()
    join()


def join() -> None:
    for thread in threading.enumerate():
        if thread.name == "rheostat-preload":
            thread.join(10)


def preloading(*queries: Query, **options: object) -> tuple[Preload, Tasks]:
    tasks = Tasks(**options)  # type: ignore[arg-type]
    return Preload(tasks.preload, lambda: queries, tasks.pause_left_s, lambda: tasks.now), tasks


def to(executor: str, *partitions: int, run_id: str = "q") -> dict[tuple[str, int], str]:
    return {(run_id, partition): executor for partition in partitions}


def test_sent_partitions_are_loaded_in_the_following_pause() -> None:
    preload, tasks = preloading(Query())
    run_preload(preload, tasks, {**to("1", 4), **to("2", 7)})
    assert tasks.loaded == [("q", (4, 7))]


def test_every_executor_loads_only_what_fits_into_the_pause() -> None:
    preload, tasks = preloading(Query(pauses=itertools.repeat(SPARE_S + 2.5 * FIRST_S)))
    run_preload(preload, tasks, {**to("1", 1, 2, 3), **to("2", 4)})
    assert tasks.loaded == [("q", (1, 2, 4))]


def test_a_pause_too_short_for_one_partition_loads_none() -> None:
    preload, tasks = preloading(Query(pauses=itertools.repeat(SPARE_S + 0.9 * FIRST_S)))
    run_preload(preload, tasks, to("1", 1))
    assert tasks.loaded == []


def test_the_load_time_is_learned_from_loaded_partitions() -> None:
    preload, tasks = preloading(Query(pauses=itertools.repeat(1.5)), takes_s=0.1)
    for _ in range(3):
        run_preload(preload, tasks, to("1", *range(12)))
    assert [len(partitions) for _, partitions in tasks.loaded] == [2, 4, 12]


def test_the_room_in_pauses_is_known_once_every_query_was_preloaded() -> None:
    preload, tasks = preloading(Query("a"), Query("b"), takes_s=0.1)
    assert preload.room({"a": 2.0}) is None
    for _ in range(3):
        run_preload(preload, tasks, to("1", 1, run_id="a"))
    assert preload.room({"a": 2.0}) == pytest.approx((2.0 - SPARE_S, 0.1))
    assert preload.room({"a": 2.0, "b": 3.0}) is None
    run_preload(preload, tasks, to("1", 1, run_id="b"))
    assert preload.room({"a": 2.0, "b": 3.0}) == pytest.approx(
        ((2.0 - SPARE_S) / 2, (FIRST_S + 0.1) / 2)
    )


def test_there_is_no_room_without_a_query_or_a_long_enough_pause() -> None:
    preload, tasks = preloading(Query(), takes_s=FIRST_S)
    run_preload(preload, tasks, to("1", 1))
    assert preload.room({}) is None
    assert preload.room({"q": SPARE_S + 0.9 * FIRST_S}) is None
    assert preload.room({"q": SPARE_S + 1.1 * FIRST_S}) is not None


def test_there_is_no_room_after_a_failure_until_a_load_succeeds() -> None:
    preload, tasks = preloading(Query())
    for fault, known in ((None, True), (Py4JError("gone"), False), (None, True)):
        tasks.fault = fault
        run_preload(preload, tasks, to("1", 1))
        assert (preload.room({"q": 2.0}) is not None) is known


def test_a_query_gets_a_moment_to_report_its_pause() -> None:
    preload, tasks = preloading(Query(pauses=itertools.chain([0.0, 0.0], itertools.repeat(1.5))))
    run_preload(preload, tasks, to("1", 1))
    assert tasks.loaded == [("q", (1,))]


def test_a_query_without_a_pause_is_not_waited_for() -> None:
    preload, tasks = preloading(Query(pauses=itertools.repeat(0.0)))
    run_preload(preload, tasks, to("1", 1))
    assert tasks.loaded == []
    assert tasks.now < 1


def test_every_query_gets_its_own_partitions() -> None:
    preload, tasks = preloading(Query("a"), Query("b"), Query("c"))
    run_preload(preload, tasks, {**to("1", 1, run_id="a"), **to("1", 2, run_id="b")})
    assert tasks.loaded == [("a", (1,)), ("b", (2,))]


def test_partitions_sent_during_a_load_are_left_to_the_batch() -> None:
    preload, tasks = preloading(Query())
    preload.begin(to("1", 1))
    preload.begin(to("1", 2))
    tasks.gate.set()
    join()
    assert tasks.loaded == [("q", (1,))]


def test_a_failed_load_is_left_to_the_batch_and_the_next_one_is_tried() -> None:
    preload, tasks = preloading(Query(), fault=Py4JError("lost"))
    run_preload(preload, tasks, to("1", 1))
    tasks.fault = None
    run_preload(preload, tasks, to("1", 2))
    assert tasks.loaded == [("q", (2,))]


def test_preloading_stops_after_three_consecutive_failures() -> None:
    preload, tasks = preloading(Query(), fault=AnalysisException("unknown"))
    for _ in range(2):
        run_preload(preload, tasks, to("1", 1))
    tasks.fault = None
    run_preload(preload, tasks, to("1", 2))
    tasks.fault = AnalysisException("unknown")
    for _ in range(3):
        run_preload(preload, tasks, to("1", 3))
    tasks.fault = None
    run_preload(preload, tasks, to("1", 4))
    assert tasks.loaded == [("q", (2,))]


def test_nothing_is_learned_if_nothing_can_be_loaded() -> None:
    preload, tasks = preloading(
        Query(pauses=itertools.repeat(SPARE_S + 1.5 * FIRST_S)), loads=False, takes_s=0.0
    )
    for _ in range(2):
        run_preload(preload, tasks, to("1", 1, 2))
    assert [len(partitions) for _, partitions in tasks.loaded] == [1, 1]


@given(
    st.dictionaries(st.integers(0, 30), st.sampled_from("123")),
    st.floats(-1, 10),
    st.floats(0.01, 5),
)
def test_the_selected_partitions_fit_into_the_pause(
    sent: dict[int, str], room_s: float, load_s: float
) -> None:
    chosen = fitting(sent, room_s, load_s)
    assert set(chosen) <= sent.keys()
    for executor in set(sent.values()):
        theirs = [partition for partition in chosen if sent[partition] == executor]
        left = [
            partition
            for partition, to in sent.items()
            if to == executor and partition not in theirs
        ]
        assert len(theirs) * load_s <= max(0.0, room_s) + 1e-9
        assert not left or (len(theirs) + 1) * load_s > room_s - 1e-9
        assert not left or not theirs or max(theirs) < min(left)
