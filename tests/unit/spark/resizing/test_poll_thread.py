from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from rheostat.spark.resizing import poll_thread
from rheostat.spark.resizing.poll_thread import PollThread


class Polls:
    """Fails at the first observations with the same message; sets ``done`` after the last."""

    def __init__(self, failing: int, polls: int) -> None:
        self.failing, self.left, self.done = failing, polls, threading.Event()

    def __call__(self, now: float) -> None:
        self.left -= 1
        if self.left <= 0:
            self.done.set()
        if self.failing:
            self.failing -= 1
            raise RuntimeError("gone")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll_thread, "IDLE_S", 0.001)


def thread(polls: Polls, ended: Callable[[], bool] = lambda: False) -> PollThread:
    return PollThread(polls, lambda now: 0.001, ended)


def test_a_failed_poll_is_logged_once_and_retried(caplog):
    polls = Polls(failing=3, polls=5)
    poller = thread(polls)
    with caplog.at_level(logging.WARNING, "rheostat"):
        poller.start(lambda: None)
        assert polls.done.wait(10)
        poller.stop()
    assert [record.message for record in caplog.records] == [
        "rheostat: a step of the rescale failed; retrying: RuntimeError: gone"
    ]


def test_the_thread_ends_with_the_application_without_a_message(caplog):
    polls = Polls(failing=1, polls=1)
    poller = thread(polls, ended=lambda: True)
    with caplog.at_level(logging.WARNING, "rheostat"):
        poller.start(lambda: None)
        assert polls.done.wait(10)
        poller.stop()
    assert (polls.left, caplog.records) == (0, [])


def test_ticks_run_in_the_poll_thread():
    polls, ticked = Polls(failing=0, polls=3), list[str]()
    poller = thread(polls)
    poller.start(lambda: ticked.append(threading.current_thread().name))
    assert polls.done.wait(10)
    poller.stop()
    assert ticked == ["rheostat-rescale"]


def test_a_thread_that_was_never_started_can_be_stopped():
    thread(Polls(0, 0)).stop()
