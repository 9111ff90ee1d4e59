from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from rheostat.spark.overhead import Overhead

TASKS = Path("/proc/self/task")


def burn(seconds: float) -> None:
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        pass


def test_loop_overhead_is_the_cpu_time_of_the_ticking_thread():
    overhead = Overhead(None, None)

    def work() -> None:
        burn(0.05)
        overhead.tick()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert 0.05 <= overhead.parts_s()["loop"] < 5
    assert "bridge" not in overhead.parts_s()
    assert overhead.elapsed_s > 0


def test_bridge_time_counts_from_the_first_tick():
    spent = iter([100.0, 100.5, 102.0])
    overhead = Overhead(lambda: next(spent), None)
    overhead.tick()
    assert overhead.parts_s()["bridge"] == 0.0
    overhead.tick()
    overhead.tick()
    assert overhead.parts_s()["bridge"] == 2.0


def test_every_thread_counts_under_its_name_and_bridge_times_are_summed():
    spent = iter([10.0, 70.0, 11.0, 72.0])
    overhead = Overhead(lambda: next(spent), None)
    for part in ("loop", "rescale controller") * 2:
        overhead.tick(part)
    parts = overhead.parts_s()
    assert parts["bridge"] == 3.0
    assert parts["rescale controller"] > 0


def test_a_jvm_without_cpu_times_has_no_bridge_time():
    overhead = Overhead(lambda: None, None)
    overhead.tick()
    assert "bridge" not in overhead.parts_s()


@pytest.mark.skipif(not TASKS.exists(), reason="threads by name need Linux's /proc")
def test_ui_threads_are_identified_by_their_name():
    done = threading.Event()

    def work() -> None:
        (TASKS / str(threading.get_native_id()) / "comm").write_text("SparkUI-77")
        burn(0.05)
        done.set()
        end.wait()

    end = threading.Event()
    overhead = Overhead(None, os.getpid())
    thread = threading.Thread(target=work)
    thread.start()
    done.wait()
    parts = overhead.parts_s()
    end.set()
    thread.join()
    assert parts["rest"] >= 0.04
    assert parts["broker"] == 0.0


def test_an_ended_process_has_no_cost():
    assert Overhead(None, 2**22 + 1).parts_s().get("rest", 0.0) == 0.0
