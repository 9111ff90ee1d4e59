from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rheostat_lab.rescale.event_log import EventLog
from rheostat_lab.rescale.stalls import stalls

RUN = "run-1"


def event(name: str, **fields: Any) -> bytes:
    return json.dumps({"Event": f"SparkListener{name}", **fields}).encode() + b"\n"


def added(executor: str, at_s: float, cores: int = 1) -> bytes:
    fields = {"Host": "127.0.0.1", "Total Cores": cores}
    return event(
        "ExecutorAdded",
        Timestamp=int(at_s * 1000),
        **{"Executor ID": executor, "Executor Info": fields},
    )


def removed(executor: str, at_s: float) -> bytes:
    return event(
        "ExecutorRemoved",
        Timestamp=int(at_s * 1000),
        **{"Executor ID": executor, "Removed Reason": "gone"},
    )


def stage(number: int, tasks: int, at_s: float, batch: int = 0) -> list[bytes]:
    properties = {"streaming.sql.batchId": str(batch), "spark.jobGroup.id": RUN}
    fields = {
        "Stage ID": number,
        "Stage Attempt ID": 0,
        "Number of Tasks": tasks,
        "Submission Time": int(at_s * 1000),
    }
    return [
        event("JobStart", Properties=properties, **{"Stage IDs": [number]}),
        event("StageSubmitted", **{"Stage Info": fields}),
    ]


def task(
    number: int,
    index: int,
    executor: str,
    launch_s: float,
    finish_s: float,
    reason: str = "Success",
) -> bytes:
    times = {"Launch Time": int(launch_s * 1000), "Finish Time": int(finish_s * 1000)}
    fields = {"Index": index, "Executor ID": executor, "Locality": "PROCESS_LOCAL", **times}
    return event(
        "TaskEnd",
        **{
            "Stage ID": number,
            "Stage Attempt ID": 0,
            "Task End Reason": {"Reason": reason},
            "Task Info": fields,
        },
    )


def log(*lines: bytes) -> EventLog:
    read = EventLog()
    read.read(lines)
    return read


def test_a_task_that_waits_while_another_executor_is_free_is_a_stall() -> None:
    result = stalls(
        log(
            added("0", 0),
            added("1", 0),
            *stage(7, 2, 10.0, batch=3),
            task(7, 0, "0", 10.0, 10.5),
            task(7, 1, "1", 13.0, 13.5),
        )
    )
    assert [(stall.batch, stall.begin_s, stall.seconds) for stall in result] == [
        ((RUN, 3), 10.0, 3.0)
    ]


def test_tasks_that_wait_for_busy_slots_are_not_stalls() -> None:
    busy = [task(7, i, str(i % 2), 10.0 + i // 2 * 2, 12.0 + i // 2 * 2) for i in range(6)]
    assert stalls(log(added("0", 0), added("1", 0), *stage(7, 6, 10.0), *busy)) == []


def test_two_stages_of_one_batch_share_the_slots() -> None:
    sides = [
        *stage(7, 1, 10.0),
        *stage(8, 1, 10.0),
        task(7, 0, "0", 10.0, 15.0),
        task(8, 0, "0", 15.0, 16.0),
    ]
    assert stalls(log(added("0", 0), *sides)) == []


def test_a_new_slot_is_free_from_its_registration() -> None:
    lines = (
        added("0", 0),
        *stage(7, 2, 10.0),
        added("1", 12.0),
        task(7, 0, "0", 10.0, 15.0),
        task(7, 1, "0", 15.0, 16.0),
    )
    assert [(stall.begin_s, stall.seconds) for stall in stalls(log(*lines))] == [(12.0, 3.0)]


def test_a_draining_executor_has_no_free_slot() -> None:
    leaving = (
        added("0", 0),
        added("1", 0),
        *stage(1, 2, 1.0),
        task(1, 0, "0", 1.0, 2.0),
        task(1, 1, "1", 1.0, 2.0),
        removed("1", 99.0),
    )
    after = (*stage(2, 2, 10.0, batch=1), task(2, 0, "0", 10.0, 12.0), task(2, 1, "0", 12.0, 13.0))
    assert stalls(log(*leaving, *after)) == []


def test_a_wait_below_the_threshold_is_not_a_stall() -> None:
    lines = (added("0", 0), *stage(7, 1, 10.0), task(7, 0, "0", 10.9, 11.0))
    assert stalls(log(*lines)) == []
    assert len(stalls(log(*lines), longer_than_s=0.5)) == 1


def test_failed_tasks_exclude_deliberately_killed_ones() -> None:
    lines = [
        task(7, i, "0", 1.0, 2.0, reason)
        for i, reason in enumerate(("Success", "ExecutorLostFailure", "TaskKilled", "FetchFailed"))
    ]
    assert [failed.failure for failed in log(*stage(7, 4, 1.0), *lines).failed_tasks] == [
        "ExecutorLostFailure",
        "FetchFailed",
    ]


def test_partition_holders_come_from_the_last_matching_stage_of_a_batch() -> None:
    source = [*stage(1, 2, 1.0, batch=5), task(1, 0, "9", 1.0, 2.0), task(1, 1, "9", 1.0, 2.0)]
    state = [*stage(2, 2, 2.0, batch=5), task(2, 0, "0", 2.0, 3.0), task(2, 1, "1", 2.0, 3.0)]
    assert log(*source, *state).partition_holders(2) == {(RUN, 5): {0: "0", 1: "1"}}


def test_a_move_is_a_partition_whose_task_ran_on_a_different_executor() -> None:
    homes = ({0: "0", 1: "1"}, {0: "0", 1: "0"}, {0: "1", 1: "0"}, {1: "0"}, {0: "0", 1: "0"})
    lines = [
        stage(n, 2, n, batch=n) + [task(n, i, at, n, n + 0.5) for i, at in home.items()]
        for n, home in enumerate(homes)
    ]
    assert log(*[line for batch in lines for line in batch]).moves(2) == 3


def test_a_log_is_read_incrementally_and_incomplete_lines_are_deferred(tmp_path: Path) -> None:
    file, read = tmp_path / "app-1.inprogress", EventLog()
    first, second = added("0", 1.0), added("1", 2.0)
    file.write_bytes(first + second[:20])
    assert list(read.follow(tmp_path).executors) == ["0"]
    file.write_bytes(first + second + removed("0", 3.0))
    assert list(read.follow(tmp_path).executors) == ["0", "1"]
    assert read.executors["0"].removed_s == 3.0
