"""The stages of a query's last batch, from the public REST interface of the driver's UI.

Spark has no page of the latest stages, and the page of all stages has a thousand entries (20 ms of
the driver's CPU and more). But jobs have consecutive numbers and name the query's run, the batch
and their stages, so the number of a batch's job is predicted from the previous one at 2 ms per
request.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias

from rheostat.model import Stage
from rheostat.spark.sensing.rest import Pages

Page: TypeAlias = Mapping[str, Any]
"""A stage in the REST interface of the driver's UI."""

_MOST_READ = 4
"""The maximum number of stages that are tried together: their combinations grow fast."""

Job: TypeAlias = Mapping[str, Any]
_BATCH = re.compile(r"\bbatch = (\d+)")

_LOOKS = 6
"""The number of single jobs that are read before the list of all jobs."""

_LIST_EVERY = 30
"""The number of batches between two requests for the list of all jobs."""

_MOST_TASKS = 64
"""The executors of a stage with more tasks are not requested: the answer lists every task."""


def linked(
    stages: Sequence[Stage], pages: Sequence[Page], sources: Sequence[tuple[str, float]]
) -> tuple[Stage, ...]:
    """Return the stages with their upstreams, and with names that are the same in every batch.

    A page does not contain its upstreams. A stage that reads a shuffle is linked to the earlier,
    unread shuffles whose rows add up to its own; to all of these if no combination adds up. Stages
    without a link to a source are counted separately, because a table format that reads its own log
    runs them in some batches only.
    """
    read = _shuffles_read(pages)
    readers = [number for number, writers in enumerate(read) if not writers]
    of_sources = _sources(stages, readers, sources)
    own = _connected(read, of_sources) if of_sources else list(range(len(stages)))
    others = [number for number in range(len(stages)) if number not in own]
    names = {number: f"stage {position}" for position, number in enumerate(own)}
    names |= {number: f"other stage {position}" for position, number in enumerate(others)}
    return tuple(
        replace(
            stage,
            name=names[number],
            upstream=tuple(names[writer] for writer in read[number]) or of_sources.get(number, ()),
        )
        for number, stage in enumerate(stages)
    )


def _connected(read: Sequence[Sequence[int]], readers: Iterable[int]) -> list[int]:
    """Return the stages that shuffles connect with some of the ``readers``, in order."""
    connected, before = set(readers), 0
    while len(connected) > before:
        before = len(connected)
        for number, writers in enumerate(read):
            if number in connected or connected.intersection(writers):
                connected |= {number, *writers}
    return sorted(connected)


def _shuffles_read(pages: Sequence[Page]) -> list[tuple[int, ...]]:
    """Return for each stage the numbers of the stages whose shuffle it reads."""
    written = [page["shuffleWriteRecords"] for page in pages]
    unmatched: list[int] = []
    read: list[tuple[int, ...]] = []
    for number, page in enumerate(pages):
        rows = page["shuffleReadRecords"]
        # Bytes without rows also indicate a shuffle: empty partitions still have headers.
        writers: tuple[int, ...] = ()
        if page["shuffleReadBytes"] or rows:
            writers = _adding_up(unmatched, rows, written) or tuple(unmatched)
        unmatched = [writer for writer in unmatched if writer not in writers]
        if page["shuffleWriteBytes"]:
            unmatched.append(number)
        read.append(writers)
    return read


def _adding_up(numbers: Sequence[int], rows: float, rows_of: Sequence[float]) -> tuple[int, ...]:
    """Return the smallest combination of ``numbers`` whose rows add up; none if there is none."""
    # Small combinations come first: fewer stages are less likely to add up by chance.
    for size in range(1, min(len(numbers), _MOST_READ) + 1):
        for some in combinations(numbers, size):
            if sum(rows_of[number] for number in some) == rows:
                return some
    return ()


def _sources(
    stages: Sequence[Stage], readers: Sequence[int], sources: Sequence[tuple[str, float]]
) -> dict[int, tuple[str, ...]]:
    """Return which sources each stage reads: a single reader reads all; if there are as many
    readers as sources, each reads the source with the nearest number of rows. Of more readers, only
    those whose rows add up to a source's read it.
    """
    if len(readers) == 1:
        return {readers[0]: tuple(name for name, _ in sources)}
    if len(readers) == len(sources):
        return dict(_nearest(stages, readers, sources))
    if len(readers) < len(sources):
        return {}
    rows_in = [stage.rows_in or 0.0 for stage in stages]
    left = list(readers)
    of_readers: dict[int, tuple[str, ...]] = {}
    for name, rows in sources:
        own = _adding_up(left, rows, rows_in)
        left = [reader for reader in left if reader not in own]
        of_readers |= dict.fromkeys(own, (name,))
    return of_readers


def _nearest(
    stages: Sequence[Stage], readers: Sequence[int], sources: Sequence[tuple[str, float]]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    left = list(sources)
    for reader in readers:
        rows = stages[reader].rows_in or 0.0
        name, read = min(left, key=lambda source: abs(source[1] - rows))
        # Every source has one reader, so an assigned source is removed from the candidates.
        left.remove((name, read))
        yield reader, (name,)


@dataclass(frozen=True, slots=True)
class BatchStages:
    """The stages of one batch, upstreams first, and their resource usage."""

    batch_id: int
    stages: tuple[Stage, ...]
    cpu_s: float
    """CPU seconds of the threads that ran its tasks, without Python workers."""

    rows_by_executor: Mapping[str, float] | None
    """Rows that each executor read from the sources; None if they were not requested."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The last known job of a query: its number and batch, the mean number of jobs per batch,
    whether a batch has several, and the batch at the last list of all jobs.
    """

    job: int
    batch: int
    per_batch: float
    several: bool
    listed: int

    def moved_to(self, job: int, batch: int) -> _Place:
        """Return the place updated with the job of a newer batch."""
        between = batch - self.batch
        per_batch = (job - self.job) / between if between > 0 else self.per_batch
        return replace(self, job=job, batch=batch, per_batch=per_batch)


class StagesEndpoint:
    """Finds the stages of a query's last batch."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._places: dict[str, _Place] = {}
        """The place by run id."""

    def of_batch(
        self,
        run_id: str,
        batch_id: int,
        sources: Sequence[tuple[str, float]],
        by_executor: bool = False,
    ) -> BatchStages | None:
        """Return the stages of the newest finished batch up to ``batch_id`` of the query's run;
        None if they cannot be found.

        ``sources`` are the query's sources with the rows that the batch read from each: they become
        the upstreams of the stages that read them. ``by_executor`` also requests the rows of each
        executor.
        """
        jobs = self._jobs(run_id, batch_id)
        if not jobs:
            return None
        pages = [
            page
            for job in jobs
            for stage_id in sorted(job["stageIds"])
            if (page := self._stage(stage_id)) is not None
        ]
        if not pages:
            return None
        cpu_ns = sum(
            # Spark counts the CPU time of deserializing the task separately.
            page["executorCpuTime"] + page.get("executorDeserializeCpuTime", 0)
            for page in pages
        )
        rows = self._rows_by_executor(pages) if by_executor else None
        return BatchStages(
            _batch_of(jobs[0], run_id) or 0,
            linked([_read(page) for page in pages], pages, sources),
            cpu_ns / 1e9,
            rows,
        )

    def _jobs(self, run_id: str, batch_id: int) -> list[Job]:
        """Return the finished jobs of the newest batch up to ``batch_id``, in order."""
        place = self._places.get(run_id)
        job = self._expected(run_id, batch_id, place) if place else None
        if place is not None and job is not None:
            self._places[run_id] = place.moved_to(_number(job), _batch_of(job, run_id) or 0)
            if not place.several:
                return [job]
            return [*self._adjacent(job, run_id, -1)[::-1], job, *self._adjacent(job, run_id, 1)]
        # The list of all jobs is rarely requested: it costs as much as ten single requests.
        if place is None or batch_id >= place.listed + _LIST_EVERY:
            return self._of_all(run_id, batch_id)
        return []

    def _expected(self, run_id: str, batch_id: int, place: _Place) -> Job | None:
        """Return a job of the batch or of the newest earlier one found nearby; else None."""
        # All queries share the job numbers, but their distance between two batches is stable.
        number, best = place.job + round((batch_id - place.batch) * place.per_batch), None
        for _ in range(_LOOKS):
            job = self._pages.get(f"jobs/{number}") or {}
            batch = _batch_of(job, run_id)
            if batch is None:  # the job does not exist yet, or belongs to another query
                number -= 1
                continue
            if batch <= batch_id and (best is None or batch > (_batch_of(best, run_id) or 0)):
                best = job
            if batch == batch_id or number == (best or {}).get("jobId", number) - 1:
                break
            number += round((batch_id - batch) * place.per_batch) or (1 if batch < batch_id else -1)
        return best

    def _adjacent(self, job: Job, run_id: str, step: int) -> list[Job]:
        """Return the jobs of the same batch before (``step`` -1) or after it, nearest first."""
        adjacent: list[Job] = []
        for n in range(1, _LOOKS):
            other = self._pages.get(f"jobs/{job['jobId'] + n * step}") or {}
            if _batch_of(other, run_id) != _batch_of(job, run_id):
                break
            adjacent.append(other)
        return adjacent

    def _of_all(self, run_id: str, batch_id: int) -> list[Job]:
        """Request the list of all jobs, and record the place of those of the batch."""
        listed = self._pages.get("jobs?status=succeeded") or []
        jobs = sorted(
            (
                job
                for job in listed
                if (batch := _batch_of(job, run_id)) is not None and batch <= batch_id
            ),
            key=_number,
        )
        if not jobs:
            return []
        first, newest = _batch_of(jobs[0], run_id) or 0, _batch_of(jobs[-1], run_id) or 0
        of_batch = [job for job in jobs if _batch_of(job, run_id) == newest]
        per_batch = (
            (_number(jobs[-1]) - _number(jobs[0])) / (newest - first)
            if newest > first
            else float(len(of_batch))
        )
        self._places[run_id] = _Place(
            _number(jobs[-1]), newest, per_batch, len(of_batch) > 1, batch_id
        )
        return of_batch

    def _stage(self, stage_id: int) -> Page | None:
        """Return the last attempt of a completed stage; None for a skipped one."""
        attempts = self._pages.get(
            f"stages/{stage_id}?details=false&withSummaries=true&quantiles=0.5,1.0"
        )
        run = [page for page in attempts or () if page["status"] == "COMPLETE"]
        # An earlier attempt was lost with its executor and run again.
        return run[-1] if run else None

    def _rows_by_executor(self, pages: Sequence[Page]) -> dict[str, float] | None:
        rows: dict[str, float] = {}
        for page in pages:
            # Stages that read only a shuffle have no source rows.
            if not page["inputRecords"]:
                continue
            if page["numTasks"] > _MOST_TASKS:
                return None
            attempts = self._pages.get(f"stages/{page['stageId']}?details=true")
            if not attempts:
                return None
            for executor, used in attempts[-1].get("executorSummary", {}).items():
                rows[executor] = rows.get(executor, 0.0) + used["inputRecords"]
        return rows or None


def _batch_of(job: Job, run_id: str) -> int | None:
    """Return the batch id of a finished job of the run; None for any other job."""
    if job.get("jobGroup") != run_id or job.get("status") != "SUCCEEDED":
        return None
    match = _BATCH.search(job.get("description") or "")
    return int(match[1]) if match else None


def _number(job: Job) -> int:
    return int(job["jobId"])


def _read(page: Page) -> Stage:
    distributions = page.get("taskMetricsDistributions") or {}
    median_ms, most_ms = distributions.get("duration") or (None, None)
    return Stage(
        name=str(page["stageId"]),
        rows_in=float(page["inputRecords"] + page["shuffleReadRecords"]),
        rows_out=_rows_out(page),
        busy_s=page["executorRunTime"] / 1000,
        tasks=page["numTasks"],
        task_max_s=None if most_ms is None else most_ms / 1000,
        task_median_s=None if median_ms is None else median_ms / 1000,
    )


def _rows_out(page: Page) -> float | None:
    """Return the rows that a stage wrote to a shuffle or to the sink; None if it counts neither,
    because the code of ``foreachBatch`` may write without Spark's knowledge.
    """
    if page["shuffleWriteBytes"] or page["shuffleWriteRecords"]:
        return float(page["shuffleWriteRecords"])
    return float(page["outputRecords"]) or None
