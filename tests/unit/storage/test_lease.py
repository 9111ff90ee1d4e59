"""A lease has one owner, and only the lease of a process that has ended can be taken over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from rheostat.storage.lease import (
    Lease,
    Owner,
    is_stale,
    process_start,
    this_process,
)
from rheostat.storage.local_files import LocalFileSystem

HERE = Owner(host="a", pid=1, started="10")
STALE_S = 30.0
OWNS_A_LEASE = """
import sys
from rheostat.storage.lease import Lease
from rheostat.storage.local_files import LocalFileSystem
assert Lease(LocalFileSystem(), sys.argv[1], 30.0).take() is None
print("taken", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("host", "started_now", "age_s", "stale"),
    [
        ("a", None, 0, True),
        ("a", "another start", 0, True),
        ("a", "1", 9_999, False),
        ("b", "1", STALE_S + 1, True),
        ("b", None, STALE_S - 1, False),
    ],
)
def test_a_lease_is_stale_once_its_process_ended_or_is_silent_elsewhere(
    host, started_now, age_s, stale
):
    owner = Owner(host=host, pid=7, started="1", stale_s=STALE_S)
    assert is_stale(owner, HERE, started_now, age_s) == stale


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "lease.json"


def lease_in(file: Path, clock: Callable[[], float] = time.time) -> Lease:
    return Lease(LocalFileSystem(), str(file), STALE_S, clock)


def test_a_second_lease_of_the_process_is_denied(file):
    first, second = lease_in(file), lease_in(file)
    assert first.take() is None
    owner = second.take()
    assert owner is not None
    assert (owner.pid, owner.started) == (os.getpid(), process_start(os.getpid()))
    second.release()
    assert first.renew()
    first.release()
    assert second.take() is None
    assert not first.renew()


def test_a_killed_processs_lease_is_available_at_once(file):
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNS_A_LEASE, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "taken\n"
    lease = lease_in(file)
    living = lease.take()
    assert living is not None
    assert living.pid == owner.pid
    owner.kill()
    os.waitid(os.P_PID, owner.pid, os.WEXITED | os.WNOWAIT)  # it has ended but is not reaped
    assert lease.take() is None
    owner.communicate()


def test_another_computers_lease_is_available_once_it_is_silent(file):
    elsewhere = replace(this_process(), host="another computer", stale_s=STALE_S)
    assert LocalFileSystem().create(str(file), json.dumps(asdict(elsewhere)))
    changed_s = file.stat().st_mtime
    assert lease_in(file, lambda: changed_s + STALE_S - 1).take() == elsewhere
    assert lease_in(file, lambda: changed_s + STALE_S + 1).take() is None


def test_renewing_keeps_a_lease_and_recreates_a_deleted_one(file):
    lease = lease_in(file)
    lease.take()
    os.utime(file, (1, 1))
    assert lease.renew()
    assert file.stat().st_mtime > 1
    file.unlink()
    assert lease.renew()
    assert lease_in(file).take() is not None


def test_a_truncated_lease_does_not_block(file):
    assert LocalFileSystem().create(str(file), '{"host": ')
    assert lease_in(file).take() is None


def test_leases_work_without_hard_links(file, monkeypatch):
    def refused(*_: object) -> None:
        raise OSError("no hard links")

    monkeypatch.setattr(os, "link", refused)
    assert lease_in(file).take() is None
    assert lease_in(file).take() is not None
