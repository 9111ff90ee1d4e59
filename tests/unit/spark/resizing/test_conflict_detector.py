from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from rheostat.spark.resizing.conflict_detector import ConflictDetector, SharedCluster


class Manager:
    """A cluster manager: its last requested total, and the number of our requests."""

    def __init__(self) -> None:
        self.total: int | None = None
        self.asked = 0

    def ids(self) -> list[str]:
        return []

    def request_total(self, executors: int) -> bool:
        self.total, self.asked = executors, self.asked + 1
        return True


def at_work(manager: Manager, most: int = 100) -> tuple[SharedCluster, ConflictDetector]:
    other = ConflictDetector(lambda: manager.total)
    cluster = SimpleNamespace(total=lambda wanted: min(wanted, most), poll=lambda *_: "")
    return SharedCluster(manager, cluster, other), other


def test_who_overwrites_the_total_again_and_again_is_told_once_and_rheostat_asks_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    manager = Manager()
    executors, other = at_work(manager)
    said = []
    with caplog.at_level(logging.WARNING, logger="rheostat"):
        for second in range(60):
            executors.request_total(6)
            said.append(other.words(float(second)))
            if second % 15 == 14:  # as an HPA would
                manager.total = 2
    once = "another program requested 2, Rheostat for 6 again"
    assert said[:45] == [once if second in (15, 30) else "" for second in range(45)]
    assert "3 times within 120 s, most recently for 2, while Rheostat asks for 6" in said[45]
    assert "requestTotalExecutors" in said[45]
    assert set(said[45:]) == {said[45]}
    assert [each.getMessage() for each in caplog.records] == [f"rheostat: {said[45]}"]
    executors.request_total(6)
    assert (manager.total, manager.asked) == (6, 61)


def test_our_own_changes_and_a_total_that_nobody_knows_are_no_other_hand() -> None:
    manager = Manager()
    manager.total = 8  # the total that was requested before ours
    executors, other = at_work(manager)
    for size in (2, 3, 4, 5, 4, 3):
        executors.request_total(size)
    for _ in range(5):
        manager.total = None  # the application master was restarted
        executors.request_total(3)
    assert other.words(1.0) == ""


def test_a_total_that_is_limited_by_a_refusal_is_our_own() -> None:
    manager = Manager()
    executors, other = at_work(manager, most=3)
    for _ in range(5):
        executors.request_total(8)
    assert other.words(1.0) == ""
