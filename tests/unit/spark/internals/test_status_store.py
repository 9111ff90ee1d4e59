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

    def stageData(self, *arguments: Any) -> Any:  # noqa: N802
        return ["stage", *arguments]


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
    ("page", "arguments"),
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
def test_a_page_contains_the_response_of_the_store(pages, page, arguments):
    assert pages(Store()).get(page) == arguments


def test_a_missing_job_is_absent(pages):
    assert pages(Store()).get("jobs/10") is None


def test_an_unsupported_page_is_requested_from_the_ui(pages):
    assert pages(Store()).get("streaming/batches") == "UI: streaming/batches"


def test_pages_come_from_the_ui_if_the_calls_are_missing(pages, absent):
    driver_pages = pages(absent)
    assert driver_pages.get("executors") == "UI: executors"
    assert not driver_pages.answers


def test_pages_come_from_the_ui_if_the_jvm_is_gone(pages):
    class Gone:
        def executorList(self, active: bool) -> Any:  # noqa: N802
            raise Py4JError("the JVM has gone")

    assert pages(Gone()).get("executors") == "UI: executors"
    assert pages(Store()).answers
