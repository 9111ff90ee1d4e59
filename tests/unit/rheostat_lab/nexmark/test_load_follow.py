from __future__ import annotations

import json
from pathlib import Path

import pytest

from rheostat.errors import BadInput, RheostatError
from rheostat.sim.workload import Constant
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.due_rows import rows_until
from rheostat_lab.loads.ramp import Ramp
from rheostat_lab.nexmark.curve import CurveFile, read_curve
from rheostat_lab.nexmark.event_topic import EventTopic, SourceTopics
from rheostat_lab.nexmark.load import follow, start_of, workload_of

START = 1_000_000.0


class ClockOfSleeps:
    """A clock that only sleeping advances."""

    def __init__(self, now: float = START) -> None:
        self.now = now

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class ListTopic:
    """Stores (row, created_ms); accepts at most ``room`` rows per write; the last ``slow`` rows are
    acknowledged only by a flush."""

    def __init__(self, room: int = 10**9, slow: int = 0) -> None:
        self.rows: list[tuple[int, int]] = []
        self.room = room
        self.slow = slow

    def write(self, first: int, count: int, created_ms: int) -> int:
        taken = min(count, self.room)
        self.rows += [(row, created_ms) for row in range(first, first + taken)]
        return taken

    def waiting(self) -> int:
        return min(self.slow, len(self.rows))

    def flush(self, within_s: float) -> int:
        return 0


def test_every_row_of_the_load_is_written_once_in_order() -> None:
    topic, day = ListTopic(), Day(low=30, peak=200, day_s=20)
    summary = follow(day, topic, start_at=START, seconds=20, clock=ClockOfSleeps())
    assert [row for row, _ in topic.rows] == list(range(rows_until(day, 20)))
    assert (summary.rows, summary.unacked) == (len(topic.rows), 0)


def test_a_row_is_created_within_a_tick_of_its_due_time() -> None:
    topic = ListTopic()
    follow(Constant(100), topic, start_at=START, seconds=5, clock=ClockOfSleeps())
    late_s = [created / 1000 - START - (row + 1) / 100 for row, created in topic.rows]
    assert min(late_s) > -0.0011
    assert max(late_s) < 0.06


def test_nothing_is_written_before_the_start() -> None:
    topic = ListTopic()
    follow(Constant(100), topic, start_at=START + 3, seconds=1, clock=ClockOfSleeps())
    assert len(topic.rows) == 100
    assert min(created for _, created in topic.rows) >= (START + 3) * 1000


def test_late_rows_are_caught_up() -> None:
    topic = ListTopic()
    follow(Constant(2000), topic, start_at=START - 10, seconds=12, clock=ClockOfSleeps())
    assert len(topic.rows) == 24_000
    assert sum(created < (START + 0.5) * 1000 for _, created in topic.rows) >= 20_000


def test_a_full_queue_delays_rows_but_loses_none() -> None:
    topic = ListTopic(room=3)
    summary = follow(Constant(100), topic, start_at=START, seconds=2, clock=ClockOfSleeps())
    assert [row for row, _ in topic.rows] == list(range(200))
    assert summary.seconds > 3


class BrokenTopic(ListTopic):
    """Acknowledges nothing between second 2 and second 12 of its clock, then everything within half
    a second."""

    def __init__(self, clock: ClockOfSleeps) -> None:
        super().__init__()
        self.clock = clock
        self.acked = 0

    def waiting(self) -> int:
        if not START + 2 <= self.clock.now < START + 12:
            self.acked += min(len(self.rows) - self.acked, 30)
        return len(self.rows) - self.acked


def test_during_an_outage_no_rows_are_created_until_the_queue_is_empty() -> None:
    clock = ClockOfSleeps()
    topic = BrokenTopic(clock)
    follow(Constant(100), topic, start_at=START, seconds=20, clock=clock)
    created_s = [created / 1000 - START for _, created in topic.rows]
    assert len(created_s) == 2000
    assert not [t for t in created_s if 3.2 < t < 12]
    assert [t for t in created_s if 12 < t < 13]


def test_a_stop_ends_the_run_immediately() -> None:
    topic, clock = ListTopic(), ClockOfSleeps()
    summary = follow(
        Constant(100),
        topic,
        start_at=START,
        seconds=None,
        stopped=lambda: clock.now > START + 1,
        clock=clock,
    )
    assert 90 <= summary.rows <= 110
    assert summary.rows == len(topic.rows)


def test_the_curve_contains_marks_rows_and_acknowledged_rows(tmp_path: Path) -> None:
    load, file = Ramp(low=100, high=200, begin_s=1, ramp_s=1), tmp_path / "curve.jsonl"
    curve = CurveFile(file, START, load.marks)
    summary = follow(
        load, ListTopic(slow=7), start_at=START, seconds=4, curve=curve, clock=ClockOfSleeps()
    )
    read = read_curve(file)
    assert (read.start_s, read.marks) == (START, {"ramp_start_s": 1, "ramp_end_s": 2})
    assert [point.t_s for point in read.points] == sorted(point.t_s for point in read.points)
    assert 14 <= len(read.points) <= 18
    assert read.points[4].rows - read.points[4].acked == 7
    assert (read.points[-1].rows, read.points[-1].acked) == (summary.rows, summary.rows)
    assert all(
        abs(point.rows - rows_until(load, min(4, point.t_s - START))) <= 1 for point in read.points
    )


def test_a_curve_is_readable_while_it_is_being_written(tmp_path: Path) -> None:
    file = tmp_path / "curve.jsonl"
    file.write_text(
        '{"start_s": 5.0, "marks": {}}\n{"t_s": 6.0, "rows": 3, "acked": 2, "rate_per_s":'
        ' 1.0}\n{"t_s": 7.0, "ro'
    )
    assert [point.rows for point in read_curve(file).points] == [3]


def test_an_unwritable_curve_file_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the curve cannot be written to"):
        CurveFile(tmp_path / "no folder" / "curve.jsonl", START, {})


class ListProducer:
    """Stores (partition, record, time) as a Kafka producer would send them; full after ``room``
    records until it is polled."""

    def __init__(self, room: int) -> None:
        self.sent: list[tuple[int, bytes, int]] = []
        self.room = room
        self.waiting = 0

    def produce(
        self, topic: str, value: bytes, key: None, partition: int, *, timestamp: int
    ) -> None:
        if self.waiting == self.room:
            raise BufferError
        self.waiting += 1
        self.sent.append((partition, value, timestamp))

    def poll(self, timeout: float) -> int:
        self.waiting = 0
        return 0

    def flush(self, timeout: float) -> int:
        return self.waiting

    def __len__(self) -> int:
        return self.waiting


def test_bids_go_to_the_partition_of_their_number_after_a_full_queue() -> None:
    producer = ListProducer(room=5)
    topic = EventTopic(producer, "bids", 4, seed=7)
    done = 0
    while done < 12:
        done += topic.write(done, 12 - done, 1000 + done)
    assert [partition for partition, _, _ in producer.sent] == [n % 4 for n in range(12)]
    assert [json.loads(value)["id"] for _, value, _ in producer.sent] == list(range(12))
    assert [time for _, _, time in producer.sent] == [1000] * 5 + [1005] * 5 + [1010] * 2


def test_sources_get_equal_shares_after_a_full_queue() -> None:
    one, other = ListProducer(room=5), ListProducer(room=3)
    sources = SourceTopics(
        [
            EventTopic(one, "auctions", 2, seed=7, kind="auctions"),
            EventTopic(other, "persons", 2, seed=7, kind="persons"),
        ]
    )
    done = 0
    while done < 25:
        done += sources.write(done, min(9, 25 - done), 1000)
    for producer, count in ((one, 13), (other, 12)):
        numbers = [json.loads(value)["id"] - 1000 for _, value, _ in producer.sent]
        assert numbers == list(range(count))


def test_sources_resume_after_the_rows_already_written() -> None:
    producers = [ListProducer(room=9), ListProducer(room=9)]
    sources = SourceTopics([EventTopic(producer, "bids", 1, seed=7) for producer in producers])
    sources.resume(25)
    assert sources.write(25, 2, 1000) == 2
    assert [json.loads(producer.sent[0][1])["id"] for producer in producers] == [13, 12]


def test_a_lost_bid_is_reported() -> None:
    topic = EventTopic(ListProducer(room=5), "bids", 4, seed=7, lost=["timed out"])
    with pytest.raises(RheostatError, match="topic bids has lost 1 bids: timed out"):
        topic.flush(1)


def test_command_line_settings_and_seed_are_applied_to_the_workload() -> None:
    assert workload_of("day", ["low=10", "peak=90"], seed=3) == Day(low=10, peak=90, seed=3)
    assert workload_of("day", ["seed=5"], seed=3) == Day(seed=5)
    assert workload_of("constant", ["rate=4"], seed=3) == Constant(4)


def test_invalid_settings_are_reported() -> None:
    with pytest.raises(
        BadInput, match="a setting is written name=value, such as low=300, but this one is 'low'"
    ):
        workload_of("day", ["low"])
    with pytest.raises(BadInput, match="workload trace and option --trace FILE go together"):
        workload_of("trace")
    with pytest.raises(BadInput, match="unknown workload 'noon'"):
        workload_of("noon", seed=1)


def test_an_implausible_start_time_is_rejected() -> None:
    assert start_of(None, 5.0) == 5.0
    assert start_of(1_000_030.0, START) == 1_000_030.0
    with pytest.raises(BadInput, match="--start-at is a Unix time within a day of now"):
        start_of(10.0, START)
