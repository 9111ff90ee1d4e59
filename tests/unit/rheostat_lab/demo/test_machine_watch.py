import math
import subprocess
import sys
import time

import psutil
import pytest

from rheostat_lab.demo import machine_watch
from rheostat_lab.demo.machine_watch import MachineWatch, Spent, load_per_core, sample, spent


def test_a_sample_is_the_cpu_time_between_two_reads_per_core() -> None:
    before = Spent(10.0, 100.0, 400.0, {(1, 0.0): 5.0})
    now = Spent(12.0, 103.0, 404.0, {(1, 0.0): 6.0, (2, 11.0): 0.5})
    result = sample(before, now, 0.7)
    assert (result.t_s, result.cpu, result.load) == (12.0, 0.75, 0.7)
    assert result.own_cpu == pytest.approx(1.5 / 4)


def test_an_ended_process_or_a_reused_pid_is_not_subtracted() -> None:
    before = Spent(0.0, 0.0, 0.0, {(1, 0.0): 5.0, (2, 0.0): 9.0})
    assert sample(before, Spent(1.0, 2.0, 2.0, {(1, 3.0): 0.5}), None).own_cpu == 0.25


def test_own_cpu_never_exceeds_total_cpu() -> None:
    before, now = Spent(0.0, 0.0, 0.0, {}), Spent(1.0, 0.5, 2.0, {(1, 0.0): 1.0})
    assert sample(before, now, None).own_cpu == sample(before, now, None).cpu == 0.25


def test_two_simultaneous_reads_do_not_divide_by_zero() -> None:
    now = spent()
    assert sample(now, now, None).cpu == 0.0


def test_child_processes_are_counted_as_own() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert child.pid in {pid for pid, _ in spent().own_s}
        assert psutil.Process().pid in {pid for pid, _ in spent().own_s}
    finally:
        child.communicate(b"\n")
    assert child.pid not in {pid for pid, _ in spent().own_s}


def test_the_load_is_a_number_if_the_system_provides_one() -> None:
    load = load_per_core()
    assert load is None or (load >= 0 and math.isfinite(load))


def test_a_watch_samples_until_its_context_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_watch, "EVERY_S", 0.01)
    with MachineWatch() as watch:
        while len(watch.samples) < 2:
            time.sleep(0.01)
    count = len(watch.samples)
    assert [one.t_s for one in watch.samples] == sorted(one.t_s for one in watch.samples)
    assert all(0 <= one.cpu <= 1 for one in watch.samples)
    assert len(watch.samples) == count
