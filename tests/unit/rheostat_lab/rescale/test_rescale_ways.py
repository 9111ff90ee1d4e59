from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from rheostat.model import Observation
from rheostat_lab.rescale.rescale_ways import WAYS, Restart, Scripted, options_of


class Job:
    """A job that records all calls; executors are added and removed as soon as requested."""

    def __init__(self, executors: int) -> None:
        self.done: list[str] = []
        self.running = [str(n) for n in range(executors)]
        self.internals: Any = SimpleNamespace(executors=self)

    def executors(self) -> list[str]:
        return list(self.running)

    def request_total(self, executors: int) -> None:
        self.done.append(f"request {executors}")
        self.running += [str(len(self.running) + n) for n in range(executors - len(self.running))]

    def kill_idle(self, executors: list[str]) -> None:
        self.done.append(f"kill {' '.join(executors)}")
        self.running = [executor for executor in self.running if executor not in executors]

    def until(self, what: str, reached: Callable[[], bool]) -> None:
        assert reached(), what

    def run_on(self, batches: int) -> None:
        self.done.append(f"run {batches}")

    def stop_query(self) -> None:
        self.done.append("stop")

    def start_query(self) -> None:
        self.done.append("start")


def test_a_restart_waits_for_new_executors_and_removes_old_ones_while_stopped() -> None:
    job: Any = Job(2)
    way = Restart(job, 2)
    out, back = way.rescale(4), way.rescale(2)
    assert job.done == [
        "request 4",
        "run 1",
        "stop",
        "start",
        "run 1",
        "request 2",
        "run 1",
        "stop",
        "kill 2 3",
        "start",
        "run 1",
    ]
    assert [(mark.kind, mark.before, mark.after) for mark in (out, back)] == [
        ("out", 2, 4),
        ("in", 4, 2),
    ]
    assert out.requested_s <= out.settled_s <= back.requested_s


def test_the_scripted_policy_requests_its_size() -> None:
    script = Scripted(3)
    assert script.decide(Observation(t_s=0.0, executors=1), {})[0].target == 3
    script.executors = 5
    assert script.decide(Observation(t_s=1.0, executors=3), {})[0].target == 5


@pytest.mark.parametrize("way", WAYS)
def test_only_one_way_touches_the_locality_wait(way: str) -> None:
    assert ("spark.locality.wait" in options_of(way)) == (way == "locality0")
