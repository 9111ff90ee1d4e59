from __future__ import annotations

import json
from typing import Any

from rheostat.spark.internals.placed_tasks import HOLDS
from rheostat_lab.rescale.event_log import EventLog
from rheostat_lab.rescale.task_times import Times, first_tasks, moved_and_others

PARTITIONS = 4


def event(name: str, **fields: Any) -> bytes:
    return json.dumps({"Event": f"SparkListener{name}", **fields}).encode() + b"\n"


def executor(name: str, at_s: float) -> bytes:
    fields = {"Executor ID": name, "Executor Info": {"Host": "127.0.0.1", "Total Cores": 1}}
    return event("ExecutorAdded", Timestamp=int(at_s * 1000), **fields)


def job(
    stage: int,
    tasks: dict[int, tuple[str, float, float]],
    batch: int | None = None,
    purpose: str = "",
) -> list[bytes]:
    """Return a job of one stage with executor, launch and duration of each task."""
    ours = {"spark.jobGroup.id": "rheostat-warm-up", "spark.job.description": purpose}
    properties = (
        ours
        if batch is None
        else {
            "spark.jobGroup.id": "run",
            "streaming.sql.batchId": str(batch),
            "spark.job.description": "q",
        }
    )
    fields = {
        "Stage ID": stage,
        "Stage Attempt ID": 0,
        "Number of Tasks": len(tasks),
        "Submission Time": 0,
    }
    lines = [
        event("JobStart", Properties=properties, **{"Stage IDs": [stage]}),
        event("StageSubmitted", **{"Stage Info": fields}),
    ]
    for index, (where, launch_s, took_s) in tasks.items():
        times = {
            "Launch Time": int(launch_s * 1000),
            "Finish Time": int((launch_s + took_s) * 1000),
        }
        info = {"Index": index, "Executor ID": where, "Locality": "PROCESS_LOCAL", **times}
        done = {
            "Task End Reason": {"Reason": "Success"},
            "Task Info": info,
            "Task Metrics": {"Executor CPU Time": 30_000_000},
        }
        lines.append(event("TaskEnd", **{"Stage ID": stage, "Stage Attempt ID": 0, **done}))
    return lines


def log() -> EventLog:
    """Two executors; a third is held at 10 s and runs partition 3 in the batch at 20 s; a fourth
    registers in the batch at 20 s."""
    even = {i: (str(i % 2), 0.0, 0.1) for i in range(PARTITIONS)}
    after = {i: (str(i % 2), 20.0, 0.2) for i in range(3)} | {3: ("2", 20.0, 0.5)}
    read = EventLog()
    read.read(
        [
            executor("0", 0),
            executor("1", 0),
            *job(1, even, batch=0),
            executor("2", 9),
            *job(2, {0: ("2", 10.0, 1.0)}, purpose=HOLDS),
            *job(3, after, batch=1),
            executor("3", 20),
            *job(4, {0: ("3", 21.0, 2.0)}, batch=1),
        ]
    )
    return read


def test_tasks_of_moved_partitions_are_reported_separately() -> None:
    assert moved_and_others(log(), PARTITIONS) == {
        "moved": Times(1, 0.5, 0.5),
        "others": Times(3, 0.2, 0.2),
    }


def test_batches_before_the_measurement_are_excluded() -> None:
    assert moved_and_others(log(), PARTITIONS, since_s=30.0) == {}


def test_the_first_task_of_an_executor_is_classified_and_holds_are_excluded() -> None:
    assert first_tasks(log(), since_s=5.0) == {"batch": Times(2, 1.25, 2.0)}


def test_existing_executors_are_not_new() -> None:
    assert first_tasks(log(), since_s=25.0) == {}


def test_cpu_seconds_come_from_the_task_metrics() -> None:
    assert {task.cpu_s for task in log().tasks} == {0.03}
