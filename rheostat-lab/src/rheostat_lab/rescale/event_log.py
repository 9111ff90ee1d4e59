"""The time, place and outcome of tasks, from Spark's own event log (JSON lines, neither rolled nor
compressed).

The log contains every task, including those that the UI has dropped, and costs the driver a few
milliseconds per batch. Source: Spark's ``JsonProtocol``; its times are Unix milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OPTIONS: Mapping[str, str] = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
    "spark.eventLog.logStageExecutorMetrics": "false",
}
"""Static options of a session whose log is read here; the caller sets ``spark.eventLog.dir``."""

_HARMLESS = ("Success", "TaskKilled", "Resubmitted")


@dataclass(frozen=True, slots=True)
class Task:
    """A finished task: its stage's attempt, its partition, its executor, launch and finish in Unix
    seconds, and the CPU seconds of its thread.
    """

    stage: tuple[int, int]
    index: int
    executor: str
    locality: str
    launch_s: float
    finish_s: float
    failure: str | None
    cpu_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StageRun:
    """An attempt of a stage: its tasks, its batch (run id of the query, batch id), and its times in
    Unix seconds.
    """

    stage: tuple[int, int]
    tasks: int
    batch: tuple[str, int] | None
    submitted_s: float


@dataclass(slots=True)
class Life:
    """The times at which an executor was registered and removed, in Unix seconds."""

    host: str
    cores: int
    added_s: float
    removed_s: float | None = None


@dataclass(slots=True)
class EventLog:
    """The events of an application so far; ``follow`` continues where it stopped."""

    tasks: list[Task] = field(default_factory=list)
    stages: dict[tuple[int, int], StageRun] = field(default_factory=dict)
    executors: dict[str, Life] = field(default_factory=dict)
    failed_stages: int = 0
    failed_jobs: int = 0
    _batches: dict[int, tuple[str, int] | None] = field(default_factory=dict)
    _jobs: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By stage, the group of its job and the job's description."""

    _offset: int = 0

    @property
    def failed_tasks(self) -> list[Task]:
        """The failed tasks, without those that were killed because they were no longer needed."""
        return [task for task in self.tasks if task.failure is not None]

    def follow(self, folder: Path) -> EventLog:
        """Read the application's new lines; its log is the newest file of ``folder``."""
        for file in files(folder)[-1:]:
            with file.open("rb") as log:
                log.seek(self._offset)
                complete = [line for line in log if line.endswith(b"\n")]
            self._offset += sum(map(len, complete))
            self.read(complete)
        return self

    def read(self, lines: Iterable[bytes]) -> None:
        """Process lines of the log."""
        readers: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "JobStart": self._job_started,
            "JobEnd": self._job_ended,
            "StageSubmitted": self._stage_submitted,
            "StageCompleted": self._stage_completed,
            "TaskEnd": self._task_ended,
            "ExecutorAdded": self._executor_added,
            "ExecutorRemoved": self._executor_removed,
        }
        for line in lines:
            name = line[:80].partition(b'"SparkListener')[2].partition(b'"')[0].decode()
            if name in readers:
                readers[name](json.loads(line))

    def state_tasks(self, partitions: int) -> dict[tuple[str, int], dict[int, Task]]:
        """Return the tasks of the state stage of each batch, by partition: those of its last stage
        with that number of tasks.
        """
        wanted = {
            stage.stage: stage.batch
            for stage in self.stages.values()
            if stage.tasks == partitions and stage.batch
        }
        last = {batch: stage for stage, batch in sorted(wanted.items())}
        by_batch: dict[tuple[str, int], dict[int, Task]] = {}
        for task in self.tasks:
            batch = wanted.get(task.stage)
            if batch and last[batch][0] == task.stage[0] and task.failure is None:
                by_batch.setdefault(batch, {})[task.index] = task
        return by_batch

    def partition_holders(self, partitions: int) -> dict[tuple[str, int], dict[int, str]]:
        """Return the executor of each of ``state_tasks``."""
        return {
            batch: {i: task.executor for i, task in tasks.items()}
            for batch, tasks in self.state_tasks(partitions).items()
        }

    def moves(self, partitions: int) -> int:
        """Return the number of state partitions whose executor differs from the last batch."""
        held: dict[int, str] = {}
        moves = 0
        for _, holders in sorted(
            self.partition_holders(partitions).items(), key=lambda batch: batch[0][1]
        ):
            moves += sum(
                held.get(partition, executor) != executor for partition, executor in holders.items()
            )
            held.update(holders)
        return moves

    def done_for(self, group: str) -> int:
        """Return the number of tasks of a job group that succeeded."""
        return sum(task.failure is None and self._job(task)[0] == group for task in self.tasks)

    def purpose(self, task: Task) -> str:
        """Return the purpose of a task: "batch", or the description of its job."""
        stage = self.stages.get(task.stage)
        return "batch" if stage and stage.batch else self._job(task)[1]

    def _job(self, task: Task) -> tuple[str, str]:
        return self._jobs.get(task.stage[0], ("", ""))

    def _job_started(self, event: Mapping[str, Any]) -> None:
        properties = event.get("Properties") or {}
        number, run = (
            properties.get("streaming.sql.batchId"),
            properties.get("sql.streaming.runId") or properties.get("spark.jobGroup.id"),
        )
        batch = (str(run), int(number)) if number is not None else None
        self._batches.update(dict.fromkeys(event["Stage IDs"], batch))
        job = (
            str(properties.get("spark.jobGroup.id", "")),
            str(properties.get("spark.job.description", "")),
        )
        self._jobs.update(dict.fromkeys(event["Stage IDs"], job))

    def _job_ended(self, event: Mapping[str, Any]) -> None:
        self.failed_jobs += event["Job Result"]["Result"] != "JobSucceeded"

    def _stage_submitted(self, event: Mapping[str, Any]) -> None:
        info = event["Stage Info"]
        stage = (info["Stage ID"], info["Stage Attempt ID"])
        submitted_s = info.get("Submission Time", 0) / 1000
        self.stages[stage] = StageRun(
            stage, info["Number of Tasks"], self._batches.get(stage[0]), submitted_s
        )

    def _stage_completed(self, event: Mapping[str, Any]) -> None:
        self.failed_stages += "Failure Reason" in event["Stage Info"]

    def _task_ended(self, event: Mapping[str, Any]) -> None:
        info, reason = event["Task Info"], event["Task End Reason"]["Reason"]
        self.tasks.append(
            Task(
                stage=(event["Stage ID"], event["Stage Attempt ID"]),
                index=info["Index"],
                executor=info["Executor ID"],
                locality=info["Locality"],
                launch_s=info["Launch Time"] / 1000,
                finish_s=info["Finish Time"] / 1000,
                failure=None if reason in _HARMLESS else reason,
                cpu_s=(event.get("Task Metrics") or {}).get("Executor CPU Time", 0) / 1e9,
            )
        )

    def _executor_added(self, event: Mapping[str, Any]) -> None:
        info = event["Executor Info"]
        self.executors[event["Executor ID"]] = Life(
            info["Host"], info["Total Cores"], event["Timestamp"] / 1000
        )

    def _executor_removed(self, event: Mapping[str, Any]) -> None:
        if event["Executor ID"] in self.executors:
            self.executors[event["Executor ID"]].removed_s = event["Timestamp"] / 1000


def files(folder: Path) -> list[Path]:
    """Return the logs in a folder, the most recently written last."""
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(paths, key=lambda path: path.stat().st_mtime)
