# mypy: disallow-untyped-calls=False
"""Logs of a file system that only Hadoop opens are selected once, and copied one by one."""

import time

import pytest
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.cli.recordings.matching_logs import matching_logs
from rheostat.errors import BadInput
from rheostat.spark.internals import hadoop_file_system
from rheostat.storage.file_system import StorageError

PLACE = "hdfs://name/logs"


class Hdfs(MemoryFileSystem):
    """Files that were written a day ago, of which those of others cannot be read."""

    def status(self, name):
        if name.startswith("foo:"):
            raise StorageError(f"{name} cannot be read: Spark has no file system for foo://")
        return super().status(name)

    def download(self, folder, target):
        if "secret" in folder:
            raise StorageError(f"{folder} cannot be read: Permission denied: user=me")
        if folder in self.contents:
            target.write_text(self.contents[folder])
        else:
            super().download(folder, target)


@pytest.fixture
def hdfs(monkeypatch):
    now_s = time.time()
    files = Hdfs(clock=lambda: now_s - 86_400)
    for name in ("orders-1.zstd", "secret-2", "_SUCCESS", ".hidden", "folder/orders-4"):
        files.write(f"{PLACE}/{name}", "{}\n")
    for part in ("events_1_orders-3", "appstatus_orders-3"):
        files.write(f"{PLACE}/eventlog_v2_orders-3/{part}", "{}\n")
    # A rolled log is as old as its newest file, not as its folder.
    files.times[f"{PLACE}/eventlog_v2_orders-3/events_1_orders-3"] = now_s
    monkeypatch.setattr(hadoop_file_system, "own_files", lambda java_options: files)
    return files


def selected(place, application="", since=""):
    with matching_logs(place, application, since) as (here, logs):
        assert here != place
        return {log.application: log.refused for log in logs}


def test_a_log_that_cannot_be_copied_takes_one_line_and_the_others_are_read(hdfs):
    refused = f"{PLACE}/secret-2 cannot be read: Permission denied: user=me"
    assert selected(PLACE) == {"orders-1": None, "orders-3": None, "secret-2": refused}


def test_filters_select_logs_by_name_and_newest_file(hdfs):
    assert selected(f"{PLACE}/", application="orders") == {"orders-1": None, "orders-3": None}
    assert selected(PLACE, since="12h") == {"orders-3": None}
    assert selected(f"{PLACE}/eventlog_v2_orders-3", since="12h") == {"orders-3": None}
    assert selected(f"{PLACE}/orders-1.zstd") == {"orders-1": None}


@pytest.mark.parametrize(
    ("place", "application", "line"),
    [
        (PLACE, "billing", f"no event log in {PLACE} matches --application 'billing' --since ''"),
        (f"{PLACE}/none", "", f"there is no event log at {PLACE}/none; it is a file or a folder"),
        ("foo://x/logs", "", "foo://x/logs cannot be read: Spark has no file system for foo://"),
    ],
)
def test_a_place_without_a_log_is_reported_in_one_line(hdfs, place, application, line):
    with pytest.raises(BadInput) as refused:
        selected(place, application)
    assert line in str(refused.value)
