"""The stages of the last batch, selected from sequentially numbered jobs."""

from __future__ import annotations

from typing import Any

import pytest

from rheostat.spark.sensing.stages import StagesEndpoint, _rows_out

RUN = "11111111-2222-3333-4444-555555555555"


def job(
    number: int, batch: int | None, stages: list[int], run: str = RUN, status: str = "SUCCEEDED"
) -> dict[str, Any]:
    description = f"q\nid = 1\nrunId = {run}\nbatch = {batch}" if batch is not None else None
    return {
        "jobId": number,
        "jobGroup": run,
        "status": status,
        "description": description,
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
        self.jobs = {entry["jobId"]: entry for entry in jobs}
        self.stages = {entry["stageId"]: entry for entry in stages}
        self.requests: list[str] = []

    def get(self, page: str) -> Any:
        self.requests.append(page)
        if page == "jobs?status=succeeded":
            return [entry for entry in self.jobs.values() if entry["status"] == "SUCCEEDED"]
        what, _, rest = page.partition("/")
        if what == "jobs":
            return self.jobs.get(int(rest))
        page_entry = self.stages.get(int(rest.partition("?")[0]))
        return None if page_entry is None else [page_entry]


CHAIN = [stage(0, rows=900, written=90), stage(1, read=90, outputRecords=9)]


def test_a_chain_of_stages_has_rows_times_and_its_source():
    batch_stages = StagesEndpoint(Pages([job(0, 7, [0, 1])], CHAIN)).of_batch(
        RUN, 7, [("bids", 900.0)]
    )
    assert batch_stages is not None
    read, count = batch_stages.stages
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
    assert (batch_stages.batch_id, batch_stages.cpu_s, batch_stages.rows_by_executor) == (
        7,
        1.5,
        None,
    )


def test_stages_of_a_join_are_matched_to_their_sources_by_rows():
    pages = Pages(
        [job(0, 1, [4, 5, 6])],
        [stage(4, rows=100, written=100), stage(5, rows=700, written=650), stage(6, read=750)],
    )
    batch_stages = StagesEndpoint(pages).of_batch(RUN, 1, [("persons", 690.0), ("auctions", 101.0)])
    assert batch_stages is not None
    assert [batch_stage.upstream for batch_stage in batch_stages.stages] == [
        ("auctions",),
        ("persons",),
        ("stage 0", "stage 1"),
    ]


def test_of_more_readers_than_sources_those_whose_rows_add_up_read_the_source():
    pages = Pages(
        [job(0, 1, [0]), job(1, 1, [1, 2, 3])],
        [
            stage(0, rows=640),  # the log of a table format, in a job of its own
            stage(1, rows=60, written=60),
            stage(2, rows=700, written=650),
            stage(3, read=710),
        ],
    )
    batch_stages = StagesEndpoint(pages).of_batch(RUN, 1, [("bids", 700.0)])
    assert batch_stages is not None
    assert [(entry.name, entry.upstream) for entry in batch_stages.stages] == [
        ("other stage 0", ()),
        ("stage 0", ()),
        ("stage 1", ("bids",)),
        ("stage 2", ("stage 0", "stage 1")),
    ]


def test_a_source_that_is_read_twice_is_linked_to_both_readers():
    pages = Pages([job(0, 1, [0, 1, 2])], [stage(0, rows=50), stage(1, rows=50), stage(2, rows=7)])
    batch_stages = StagesEndpoint(pages).of_batch(RUN, 1, [("bids", 100.0)])
    assert batch_stages is not None
    assert [entry.upstream for entry in batch_stages.stages] == [("bids",), ("bids",), ()]


def test_upstream_stages_are_those_whose_rows_add_up():
    written = [
        stage(0, rows=10, written=10),
        stage(1, rows=20, written=20),
        stage(2, read=20, written=5),
        stage(3, read=15),
    ]
    batch_stages = StagesEndpoint(Pages([job(0, 1, [0, 1, 2, 3])], written)).of_batch(
        RUN, 1, [("a", 10.0), ("b", 20.0)]
    )
    assert batch_stages is not None
    assert [batch_stage.upstream for batch_stage in batch_stages.stages[2:]] == [
        ("stage 1",),
        ("stage 0", "stage 2"),
    ]


def test_skipped_and_forgotten_stages_are_omitted():
    pages = Pages([job(0, 1, [0, 1, 2])], [stage(0, status="SKIPPED"), stage(1, rows=5)])
    batch_stages = StagesEndpoint(pages).of_batch(RUN, 1, [("a", 5.0)])
    assert batch_stages is not None
    assert [batch_stage.name for batch_stage in batch_stages.stages] == ["stage 0"]


def test_only_jobs_of_the_batch_are_used():
    jobs = [
        job(0, 1, [0]),
        job(1, 2, [1]),
        job(2, 2, [2]),
        job(3, None, [9], run="other"),
        job(4, 3, [3], status="RUNNING"),
    ]
    pages = Pages(jobs, [stage(n, rows=n + 1) for n in range(4)])
    batch_stages = StagesEndpoint(pages).of_batch(RUN, 2, [])
    assert batch_stages is not None
    assert (
        batch_stages.batch_id,
        [batch_stage.rows_in for batch_stage in batch_stages.stages],
    ) == (
        2,
        [2.0, 3.0],
    )


def test_an_unreported_batch_is_not_used():
    jobs = [job(0, 1, [0]), job(1, 2, [1])]
    batch_stages = StagesEndpoint(Pages(jobs, [stage(0, rows=5), stage(1, rows=7)])).of_batch(
        RUN, 1, []
    )
    assert batch_stages is not None
    assert (batch_stages.batch_id, batch_stages.stages[0].rows_in) == (1, 5.0)


def job_requests(pages: Pages) -> list[str]:
    """Return the jobs that were read since the last call."""
    requests, pages.requests = pages.requests, []
    return [page for page in requests if page.startswith("jobs")]


def test_all_jobs_are_requested_once_and_then_only_the_expected_one():
    pages = Pages([job(n, n, [n]) for n in range(400)], [stage(n, rows=n) for n in range(400)])
    endpoint = StagesEndpoint(pages)
    for batch in (49, 50, 90, 300):
        batch_stages = endpoint.of_batch(RUN, batch, [])
        assert batch_stages is not None
        assert (batch_stages.batch_id, batch_stages.stages[0].rows_in) == (batch, float(batch))
        assert job_requests(pages) == (
            ["jobs?status=succeeded"] if batch == 49 else [f"jobs/{batch}"]
        )


def test_jobs_of_other_queries_are_skipped():
    jobs = [job(n, n // 3, [n], run=RUN if n % 3 == 0 else "other") for n in range(300)]
    pages = Pages(jobs, [stage(n, rows=n) for n in range(300)])
    endpoint = StagesEndpoint(pages)
    endpoint.of_batch(RUN, 20, [])
    pages.jobs = {
        n + 1 if n > 100 else n: {**entry, "jobId": n + 1 if n > 100 else n}
        for n, entry in pages.jobs.items()
    }
    job_requests(pages)
    batch_stages = endpoint.of_batch(RUN, 60, [])
    assert batch_stages is not None
    assert batch_stages.batch_id == 60
    assert len(job_requests(pages)) < 7


def test_a_batch_of_several_jobs_is_completely_located_again():
    jobs = [job(n, n // 2, [n]) for n in range(100)]
    pages = Pages(jobs, [stage(n, rows=n) for n in range(100)])
    endpoint = StagesEndpoint(pages)
    for batch in (5, 40):
        batch_stages = endpoint.of_batch(RUN, batch, [])
        assert batch_stages is not None
        assert [batch_stage.rows_in for batch_stage in batch_stages.stages] == [
            2.0 * batch,
            2.0 * batch + 1,
        ]


def test_a_batch_without_a_job_uses_the_newest_one_before_it():
    pages = Pages([job(n, n, [n]) for n in range(10)], [stage(n, rows=n) for n in range(10)])
    endpoint = StagesEndpoint(pages)
    endpoint.of_batch(RUN, 5, [])
    batch_stages = endpoint.of_batch(RUN, 12, [])
    assert batch_stages is not None
    assert batch_stages.batch_id == 9


def test_a_distant_job_is_searched_among_all_jobs_but_not_at_every_batch():
    pages = Pages([job(n, n, [n]) for n in range(10)], [stage(n, rows=n) for n in range(3000)])
    endpoint = StagesEndpoint(pages)
    endpoint.of_batch(RUN, 9, [])
    pages.jobs = {n: job(n, n - 1000, [n]) for n in range(1000, 1100)}
    job_requests(pages)
    assert endpoint.of_batch(RUN, 20, []) is None
    assert "jobs?status=succeeded" not in job_requests(pages)
    batch_stages = endpoint.of_batch(RUN, 60, [])
    assert batch_stages is not None
    assert (batch_stages.batch_id, batch_stages.stages[0].rows_in) == (60, 1060.0)


@pytest.mark.parametrize(
    "jobs", [[], [job(0, 1, [0], run="other")], [job(0, 1, [0], status="FAILED")], [job(0, 1, [7])]]
)
def test_an_unknown_batch_is_absent(jobs):
    assert StagesEndpoint(Pages(jobs, [stage(0)])).of_batch(RUN, 5, []) is None


def test_rows_by_executor_come_from_the_stages_that_read_sources():
    used = {"executorSummary": {"0": {"inputRecords": 600}, "1": {"inputRecords": 300}}}
    pages = Pages([job(0, 7, [0, 1])], [{**CHAIN[0], **used}, CHAIN[1]])
    batch_stages = StagesEndpoint(pages).of_batch(RUN, 7, [("bids", 900.0)], by_executor=True)
    assert batch_stages is not None
    assert batch_stages.rows_by_executor == {"0": 600.0, "1": 300.0}


def test_executor_details_of_a_stage_with_many_tasks_are_not_requested():
    pages = Pages([job(0, 7, [0])], [stage(0, rows=5, numTasks=200)])
    batch_stages = StagesEndpoint(pages).of_batch(RUN, 7, [("bids", 5.0)], by_executor=True)
    assert batch_stages is not None
    assert batch_stages.rows_by_executor is None
    assert not any("details=true" in page for page in pages.requests)


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
