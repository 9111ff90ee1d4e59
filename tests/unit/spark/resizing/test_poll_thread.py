from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from rheostat.spark.resizing import poll_thread
from rheostat.spark.resizing.poll_thread import PollThread


class Looks:
    """Fails at the first observations with the same message; sets ``done`` after the last."""

    def __init__(self, failing: int, looks: int) -> None:
        self.failing, self.left, self.done = failing, looks, threading.Event()

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


def thread(looks: Looks, ended: Callable[[], bool] = lambda: False) -> PollThread:
    return PollThread(looks, lambda now: 0.001, ended)


def test_a_look_that_fails_is_said_once_and_tried_again(caplog):
    looks = Looks(failing=3, looks=5)
    one = thread(looks)
    with caplog.at_level(logging.WARNING, "rheostat"):
        one.start(lambda: None)
        assert looks.done.wait(10)
        one.stop()
    assert [record.message for record in caplog.records] == [
        "rheostat: a step of the rescale failed; retrying: RuntimeError: gone"
    ]


def test_it_ends_with_the_application_and_says_nothing(caplog):
    looks = Looks(failing=1, looks=1)
    one = thread(looks, ended=lambda: True)
    with caplog.at_level(logging.WARNING, "rheostat"):
        one.start(lambda: None)
        assert looks.done.wait(10)
        one.stop()
    assert (looks.left, caplog.records) == (0, [])


def test_it_ticks_in_the_same_thread():
    looks, ticked = Looks(failing=0, looks=3), list[str]()
    one = thread(looks)
    one.start(lambda: ticked.append(threading.current_thread().name))
    assert looks.done.wait(10)
    one.stop()
    assert ticked == ["rheostat-rescale"]


def test_one_that_was_never_started_can_be_stopped():
    thread(Looks(0, 0)).stop()
