from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from rheostat.model import Capabilities
from rheostat_lab.demo.overhead_meter import OverheadMeter

TASKS = Path("/proc/self/task")


def burn(seconds: float) -> None:
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        pass


def test_loop_overhead_is_the_cpu_time_of_the_ticking_thread():
    overhead = OverheadMeter()

    def work() -> None:
        burn(0.05)
        overhead.tick()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert 0.05 <= overhead.parts_s()["loop"] < 5
    assert "bridge" not in overhead.parts_s()
    assert overhead.overhead().elapsed_s > 0


def test_a_jvm_without_cpu_times_has_no_bridge_time():
    meter = OverheadMeter(lambda: None, None)
    meter.tick()
    assert "bridge" not in meter.parts_s()


def test_bridge_time_counts_from_the_first_tick():
    spent = iter([100.0, 100.5, 102.0])
    overhead = OverheadMeter(lambda: next(spent), None)
    overhead.tick()
    assert overhead.parts_s()["bridge"] == 0.0
    overhead.tick()
    overhead.tick()
    assert overhead.parts_s()["bridge"] == 2.0


def test_every_thread_counts_under_its_name_and_bridge_times_are_summed():
    spent = iter([10.0, 70.0, 11.0, 72.0])
    overhead = OverheadMeter(lambda: next(spent), None)
    for part in ("loop", "rescale controller") * 2:
        overhead.tick(part)
    parts = overhead.parts_s()
    assert parts["bridge"] == 3.0
    assert parts["rescale controller"] > 0


def test_the_jvm_of_a_session_gives_its_process_and_the_times_of_its_threads():
    times = iter([2_000_000_000, 2_500_000_000])

    def cpu_ns():
        if (time_ns := next(times, None)) is None:
            raise Py4JError("the JVM has ended")
        return time_ns

    threads = SimpleNamespace(getCurrentThreadCpuTime=cpu_ns)
    process = SimpleNamespace(current=lambda: SimpleNamespace(pid=os.getpid))
    management = SimpleNamespace(ManagementFactory=SimpleNamespace(getThreadMXBean=lambda: threads))
    lang = SimpleNamespace(management=management, ProcessHandle=process)
    jvm = SimpleNamespace(java=SimpleNamespace(lang=lang))
    context = SimpleNamespace(_jvm=jvm, _jsc=SimpleNamespace(sc=lambda: None))
    meter = OverheadMeter.of_driver(SimpleNamespace(sparkContext=context))
    for _ in range(3):
        meter.tick()
        assert meter.parts_s()["bridge"] >= 0.0
    assert meter.parts_s()["bridge"] == 0.5


class Watched:
    """A handle that keeps what is called by its threads."""

    capabilities = Capabilities(can_scale=True)

    def watch(self, watcher):
        self.after_tick = watcher

    def watch_polls(self, watcher):
        self.after_poll = watcher


def test_the_threads_of_an_autoscaler_are_followed():
    handle: Any = Watched()
    meter = OverheadMeter()
    meter.follow(handle)
    handle.after_tick(None)
    handle.after_poll()
    assert meter.parts_s().keys() >= {"loop", "rescale controller"}


@pytest.mark.skipif(not TASKS.exists(), reason="threads by name need Linux's /proc")
def test_ui_threads_are_identified_by_their_name():
    done = threading.Event()

    def work() -> None:
        (TASKS / str(threading.get_native_id()) / "comm").write_text("SparkUI-77")
        burn(0.05)
        done.set()
        end.wait()

    end = threading.Event()
    overhead = OverheadMeter(None, os.getpid())
    thread = threading.Thread(target=work)
    thread.start()
    done.wait()
    parts = overhead.parts_s()
    end.set()
    thread.join()
    assert parts["rest"] >= 0.04
    assert parts["broker"] == 0.0


def test_an_ended_process_has_no_cost():
    assert OverheadMeter(None, 2**22 + 1).parts_s().get("rest", 0.0) == 0.0
