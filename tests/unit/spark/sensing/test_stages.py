"""The stages of the last batch, selected from sequentially numbered jobs."""

from __future__ import annotations

from typing import Any

import pytest

from rheostat.spark.sensing.stages import StagesEndpoint, _rows_out

RUN = "11111111-2222-3333-4444-555555555555"


def job(
    number: int, batch: int | None, stages: list[int], run: str = RUN, status: str = "SUCCEEDED"
) -> dict[str, Any]:
    said = f"q\nid = 1\nrunId = {run}\nbatch = {batch}" if batch is not None else None
    return {
        "jobId": number,
        "jobGroup": run,
        "status": status,
        "description": said,
        "stageIds": stages,
    }


def stage(
    number: int,
    rows: int = 0,
    read: int = 0,
    written: int = 0,
    status: str = "COMPLETE",
    **more: Any,
) -> dict[str, Any]:
    return {
        "stageId": number,
        "status": status,
        "numTasks": 4,
        "inputRecords": rows,
        "outputRecords": 0,
        "shuffleReadRecords": read,
        "shuffleReadBytes": 10 * read,
        "shuffleWriteRecords": written,
        "shuffleWriteBytes": 10 * written,
        "executorRunTime": 1500,
        "executorCpuTime": 700_000_000,
        "executorDeserializeCpuTime": 50_000_000,
        "taskMetricsDistributions": {"quantiles": [0.5, 1.0], "duration": [300.0, 900.0]},
        **more,
    }


class Pages:
    """An interface with jobs and stages, which records its requests."""

    def __init__(self, jobs: list[dict[str, Any]], stages: list[dict[str, Any]]) -> None:
        self.jobs = {each["jobId"]: each for each in jobs}
        self.stages = {each["stageId"]: each for each in stages}
        self.asked: list[str] = []

    def get(self, page: str) -> Any:
        self.asked.append(page)
        if page == "jobs?status=succeeded":
            return [each for each in self.jobs.values() if each["status"] == "SUCCEEDED"]
        what, _, rest = page.partition("/")
        if what == "jobs":
            return self.jobs.get(int(rest))
        found = self.stages.get(int(rest.partition("?")[0]))
        return None if found is None else [found]


CHAIN = [stage(0, rows=900, written=90), stage(1, read=90, outputRecords=9)]


def test_a_chain_is_read_with_its_rows_its_times_and_its_source():
    found = StagesEndpoint(Pages([job(0, 7, [0, 1])], CHAIN)).of_batch(RUN, 7, [("bids", 900.0)])
    assert found is not None
    read, count = found.stages
    assert (read.name, read.upstream, read.rows_in, read.rows_out, read.busy_s) == (
        "stage 0",
        ("bids",),
        900.0,
        90.0,
        1.5,
    )
    assert (count.name, count.upstream, count.rows_in, count.rows_out) == (
        "stage 1",
        ("stage 0",),
        90.0,
        9.0,
    )
    assert (count.tasks, count.task_median_s, count.task_max_s) == (4, 0.3, 0.9)
    assert (found.batch_id, found.cpu_s, found.rows_by_executor) == (7, 1.5, None)


def test_a_join_reads_both_its_sources_and_each_stage_the_one_of_its_rows():
    pages = Pages(
        [job(0, 1, [4, 5, 6])],
        [stage(4, rows=100, written=100), stage(5, rows=700, written=650), stage(6, read=750)],
    )
    found = StagesEndpoint(pages).of_batch(RUN, 1, [("persons", 690.0), ("auctions", 101.0)])
    assert found is not None
    assert [each.upstream for each in found.stages] == [
        ("auctions",),
        ("persons",),
        ("stage 0", "stage 1"),
    ]


def test_a_stage_reads_those_of_which_the_rows_add_up():
    written = [
        stage(0, rows=10, written=10),
        stage(1, rows=20, written=20),
        stage(2, read=20, written=5),
        stage(3, read=15),
    ]
    found = StagesEndpoint(Pages([job(0, 1, [0, 1, 2, 3])], written)).of_batch(
        RUN, 1, [("a", 10.0), ("b", 20.0)]
    )
    assert found is not None
    assert [each.upstream for each in found.stages[2:]] == [("stage 1",), ("stage 0", "stage 2")]


def test_a_skipped_stage_and_one_that_the_driver_has_forgotten_are_left_out():
    pages = Pages([job(0, 1, [0, 1, 2])], [stage(0, status="SKIPPED"), stage(1, rows=5)])
    found = StagesEndpoint(pages).of_batch(RUN, 1, [("a", 5.0)])
    assert found is not None
    assert [each.name for each in found.stages] == ["stage 0"]


def test_the_jobs_of_a_batch_belong_together_and_those_of_others_do_not():
    jobs = [
        job(0, 1, [0]),
        job(1, 2, [1]),
        job(2, 2, [2]),
        job(3, None, [9], run="other"),
        job(4, 3, [3], status="RUNNING"),
    ]
    pages = Pages(jobs, [stage(n, rows=n + 1) for n in range(4)])
    found = StagesEndpoint(pages).of_batch(RUN, 2, [])
    assert found is not None
    assert (found.batch_id, [each.rows_in for each in found.stages]) == (2, [2.0, 3.0])


def test_a_batch_that_is_not_reported_yet_is_not_taken():
    jobs = [job(0, 1, [0]), job(1, 2, [1])]
    found = StagesEndpoint(Pages(jobs, [stage(0, rows=5), stage(1, rows=7)])).of_batch(RUN, 1, [])
    assert found is not None
    assert (found.batch_id, found.stages[0].rows_in) == (1, 5.0)


def looked(pages: Pages) -> list[str]:
    """Return the jobs that were read since the last call."""
    asked, pages.asked = pages.asked, []
    return [page for page in asked if page.startswith("jobs")]


def test_all_jobs_are_asked_for_once_and_then_the_one_that_is_expected():
    pages = Pages([job(n, n, [n]) for n in range(400)], [stage(n, rows=n) for n in range(400)])
    endpoint = StagesEndpoint(pages)
    for batch in (49, 50, 90, 300):
        found = endpoint.of_batch(RUN, batch, [])
        assert found is not None
        assert (found.batch_id, found.stages[0].rows_in) == (batch, float(batch))
        assert looked(pages) == (["jobs?status=succeeded"] if batch == 49 else [f"jobs/{batch}"])


def test_jobs_of_other_queries_between_are_stepped_over():
    jobs = [job(n, n // 3, [n], run=RUN if n % 3 == 0 else "other") for n in range(300)]
    pages = Pages(jobs, [stage(n, rows=n) for n in range(300)])
    endpoint = StagesEndpoint(pages)
    endpoint.of_batch(RUN, 20, [])
    pages.jobs = {
        n + 1 if n > 100 else n: {**each, "jobId": n + 1 if n > 100 else n}
        for n, each in pages.jobs.items()
    }
    looked(pages)
    found = endpoint.of_batch(RUN, 60, [])
    assert found is not None
    assert found.batch_id == 60
    assert len(looked(pages)) < 7


def test_a_batch_of_several_jobs_is_found_whole_again():
    jobs = [job(n, n // 2, [n]) for n in range(100)]
    pages = Pages(jobs, [stage(n, rows=n) for n in range(100)])
    endpoint = StagesEndpoint(pages)
    for batch in (5, 40):
        found = endpoint.of_batch(RUN, batch, [])
        assert found is not None
        assert [each.rows_in for each in found.stages] == [2.0 * batch, 2.0 * batch + 1]


def test_a_batch_without_a_job_leaves_the_newest_before_it():
    pages = Pages([job(n, n, [n]) for n in range(10)], [stage(n, rows=n) for n in range(10)])
    endpoint = StagesEndpoint(pages)
    endpoint.of_batch(RUN, 5, [])
    found = endpoint.of_batch(RUN, 12, [])
    assert found is not None
    assert found.batch_id == 9


def test_what_is_nowhere_near_is_looked_for_among_all_jobs_but_not_at_every_batch():
    pages = Pages([job(n, n, [n]) for n in range(10)], [stage(n, rows=n) for n in range(3000)])
    endpoint = StagesEndpoint(pages)
    endpoint.of_batch(RUN, 9, [])
    pages.jobs = {n: job(n, n - 1000, [n]) for n in range(1000, 1100)}
    looked(pages)
    assert endpoint.of_batch(RUN, 20, []) is None
    assert "jobs?status=succeeded" not in looked(pages)
    found = endpoint.of_batch(RUN, 60, [])
    assert found is not None
    assert (found.batch_id, found.stages[0].rows_in) == (60, 1060.0)


@pytest.mark.parametrize(
    "jobs", [[], [job(0, 1, [0], run="other")], [job(0, 1, [0], status="FAILED")], [job(0, 1, [7])]]
)
def test_what_cannot_be_found_is_absent(jobs):
    assert StagesEndpoint(Pages(jobs, [stage(0)])).of_batch(RUN, 5, []) is None


def test_rows_by_executor_are_those_of_the_stages_that_read_sources():
    used = {"executorSummary": {"0": {"inputRecords": 600}, "1": {"inputRecords": 300}}}
    pages = Pages([job(0, 7, [0, 1])], [{**CHAIN[0], **used}, CHAIN[1]])
    found = StagesEndpoint(pages).of_batch(RUN, 7, [("bids", 900.0)], by_executor=True)
    assert found is not None
    assert found.rows_by_executor == {"0": 600.0, "1": 300.0}


def test_a_stage_of_many_tasks_is_not_asked_for_its_executors():
    pages = Pages([job(0, 7, [0])], [stage(0, rows=5, numTasks=200)])
    found = StagesEndpoint(pages).of_batch(RUN, 7, [("bids", 5.0)], by_executor=True)
    assert found is not None
    assert found.rows_by_executor is None
    assert not any("details=true" in page for page in pages.asked)


@pytest.mark.parametrize(
    ("counts", "rows_out"),
    [
        ({}, None),  # foreachBatch with a user's own writer
        ({"outputRecords": 30}, 30.0),
        ({"shuffleWriteRecords": 20, "shuffleWriteBytes": 200}, 20.0),
        ({"shuffleWriteBytes": 200}, 0.0),  # headers of empty partitions
    ],
)
def test_a_stage_that_counts_no_output_has_none(counts: dict[str, int], rows_out: Any) -> None:
    assert _rows_out({**stage(1, rows=100), **counts}) == rows_out
