"""The driver's pages come from its status store, or from its UI if Spark lacks these calls."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError, Py4JJavaError

from rheostat.spark.internals.status_store import StatusStore


class Missing(Py4JJavaError):  # type: ignore[misc]  # py4j has no types
    """What py4j raises for Java's NoSuchElementException."""

    def __init__(self) -> None:
        Exception.__init__(self)


class Store:
    """Records its requests and returns them."""

    def executorList(self, active: bool) -> Any:  # noqa: N802
        return ["executors", active]

    def jobsList(self, status: list[str]) -> Any:  # noqa: N802
        return ["jobs", status]

    def job(self, number: int) -> Any:
        if number > 9:
            raise Missing
        return ["job", number]

    def stageData(self, *asked: Any) -> Any:  # noqa: N802
        return ["stage", *asked]


class Rest:
    """Answers every page with its own name."""

    def get(self, page: str) -> Any:
        return f"UI: {page}"


def packages(mapper: Any) -> dict[str, Any]:
    v1 = SimpleNamespace(JacksonMessageWriter=lambda: SimpleNamespace(mapper=lambda: mapper))
    api = SimpleNamespace(api=SimpleNamespace(v1=v1))
    status = SimpleNamespace(fromString=str.upper)
    spark = SimpleNamespace(status=api, JobExecutionStatus=status)
    return {"org": SimpleNamespace(apache=SimpleNamespace(spark=spark)), "double": float}


@pytest.fixture
def pages(gateway, jvm):
    """Return a function that makes the pages of a driver with this store."""

    def make(store: Any) -> StatusStore:
        writer = SimpleNamespace(writeValueAsString=json.dumps)
        return StatusStore(
            gateway(SimpleNamespace(statusStore=lambda: store), jvm(**packages(writer))), Rest()
        )

    return make


@pytest.mark.parametrize(
    ("page", "asked"),
    [
        ("executors", ["executors", True]),
        ("allexecutors", ["executors", False]),
        ("jobs", ["jobs", []]),
        ("jobs?status=succeeded", ["jobs", ["SUCCEEDED"]]),
        ("jobs/7", ["job", 7]),
        ("stages/3?details=true", ["stage", 3, True, [], False, []]),
        (
            "stages/3?details=false&withSummaries=true&quantiles=0.5,1.0",
            ["stage", 3, False, [], True, [0.5, 1.0]],
        ),
    ],
)
def test_a_page_is_what_the_store_says(pages, page, asked):
    assert pages(Store()).get(page) == asked


def test_a_job_that_is_not_there_is_an_absent_answer(pages):
    assert pages(Store()).get("jobs/10") is None


def test_a_page_that_the_store_does_not_have_is_asked_of_the_ui(pages):
    assert pages(Store()).get("streaming/batches") == "UI: streaming/batches"


def test_without_the_calls_the_ui_is_asked(pages, absent):
    told = pages(absent)
    assert told.get("executors") == "UI: executors"
    assert not told.answers


def test_a_jvm_that_has_gone_leaves_it_to_the_ui(pages):
    class Gone:
        def executorList(self, active: bool) -> Any:  # noqa: N802
            raise Py4JError("the JVM has gone")

    assert pages(Gone()).get("executors") == "UI: executors"
    assert pages(Store()).answers
