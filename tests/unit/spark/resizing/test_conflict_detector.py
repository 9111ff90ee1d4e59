from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.spark.resizing.conflict_detector import ConflictDetector, SharedCluster


class Manager:
    """A cluster manager: its last requested total, and the number of our requests."""

    def __init__(self) -> None:
        self.total: int | None = None
        self.requests = 0

    def requested(self) -> int | None:
        return self.total

    def ids(self) -> list[str]:
        return []

    def request_total(self, executors: int) -> bool:
        self.total, self.requests = executors, self.requests + 1
        return True


def at_work(manager: Any, limit: int = 100) -> tuple[SharedCluster, ConflictDetector]:
    platform: Any = SimpleNamespace(total=lambda wanted: min(wanted, limit), poll=lambda *_: "")
    cluster = SharedCluster(manager, platform, lambda: False)
    return cluster, cluster.conflicts


def test_repeated_overwrites_of_the_total_are_reported_once_and_requests_continue(
    caplog: pytest.LogCaptureFixture,
) -> None:
    manager = Manager()
    executors, detector = at_work(manager)
    messages = []
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        for second in range(60):
            executors.request_total(6)
            messages.append(detector.words(float(second)))
            if second % 15 == 14:  # as an HPA would
                manager.total = 2
    first_message = "another program requested 2, Rheostat for 6 again"
    assert messages[:45] == [first_message if second in (15, 30) else "" for second in range(45)]
    assert "3 times within 120 s, most recently for 2, while Rheostat asks for 6" in messages[45]
    assert "requestTotalExecutors" in messages[45]
    assert set(messages[45:]) == {messages[45]}
    assert [record.getMessage() for record in caplog.records] == [f"rheostat: {messages[45]}"]
    executors.request_total(6)
    assert (manager.total, manager.requests) == (6, 61)


def test_our_own_changes_and_unknown_totals_are_not_a_conflict() -> None:
    manager = Manager()
    manager.total = 8  # the total that was requested before ours
    executors, detector = at_work(manager)
    for size in (2, 3, 4, 5, 4, 3):
        executors.request_total(size)
    for _ in range(5):
        manager.total = None  # the application master was restarted
        executors.request_total(3)
    assert detector.words(1.0) == ""


def test_a_total_limited_by_a_refusal_is_our_own() -> None:
    manager = Manager()
    executors, detector = at_work(manager, limit=3)
    for _ in range(5):
        executors.request_total(8)
    assert detector.words(1.0) == ""
