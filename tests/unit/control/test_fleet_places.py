# mypy: disallow-untyped-calls=False
"""Remote jobs: journals on another file system, and drivers of a Kubernetes namespace."""

import shutil

import pytest
from tests.unit.control.test_journal_job import journal
from tests.unit.control.test_series import tick
from tests.unit.journal.test_totals import NOON_S
from tests.unit.operator.test_controller import body, pod
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.control.jobs import DriverJob, Jobs, MirroredFolder, jobs_of, journal_jobs
from rheostat.control.series import Fold
from rheostat.errors import BadInput
from rheostat.operator.namespace_drivers import namespace_scan
from rheostat.storage.file_system import StorageError

REMOTE = "far://away/journals"


class RecordedFileSystem(MemoryFileSystem):
    def __init__(self):
        super().__init__()
        self.reads: list[str] = []

    def read_text(self, name):
        self.reads.append(name)
        return super().read_text(name)


def copy_to_remote(files, folder):
    for path in folder.rglob("*"):
        if path.is_file():
            files.write(f"{REMOTE}/{path.relative_to(folder)}", path.read_text())


def test_a_remote_journal_is_read_as_it_grows(tmp_path):
    files, clock = MemoryFileSystem(), iter(range(0, 1000, 10))
    local, source = tmp_path / "here", tmp_path / "there"
    written = journal(source / "orders", [tick(0)])
    copy_to_remote(files, source)
    mirror = MirroredFolder(files, REMOTE, local, lambda: next(clock))
    mirror.refresh()
    (job,) = journal_jobs(local, lambda _: None, mirror.refresh)
    assert job.name == "orders"
    before = job.overview()["last_t_s"]
    written.append(tick(1), {})
    copy_to_remote(files, source)
    assert job.overview()["last_t_s"] == before + 5


def test_only_changed_files_are_read_and_deleted_files_are_removed(tmp_path):
    files, clock = RecordedFileSystem(), iter(range(0, 1000, 10))
    journal(tmp_path / "there" / "orders", [tick(place) for place in range(25)], per_segment=10)
    copy_to_remote(files, tmp_path / "there")
    mirror = MirroredFolder(files, REMOTE, tmp_path / "here", lambda: next(clock))
    mirror.refresh()
    files.reads.clear()
    files.delete(f"{REMOTE}/orders/segment-00000.jsonl")
    mirror.refresh()
    assert files.reads == [f"{REMOTE}/orders/segment-00002.jsonl"]
    assert not (tmp_path / "here/orders/segment-00000.jsonl").exists()


def test_an_unreachable_file_system_is_shown_as_blind(tmp_path):
    files, clock = MemoryFileSystem(), iter(range(0, 1000, 10))
    journal(tmp_path / "there" / "orders", [tick(0)])
    copy_to_remote(files, tmp_path / "there")
    mirror = MirroredFolder(files, REMOTE, tmp_path / "here", lambda: next(clock))
    mirror.refresh()
    jobs = Jobs(lambda: journal_jobs(tmp_path / "here", lambda _: None, mirror.refresh))
    assert jobs.rows()[0]["word"] == "Not scaling"
    files.lost = True
    assert jobs.rows()[0]["word"] == "Blind"
    with pytest.raises(StorageError):
        mirror.refresh()


def labelled(name, ip, **labels):
    made = pod()
    meta = {"name": name, "namespace": "n", "uid": name}
    made["metadata"] = {**meta, "labels": {"spark-role": "driver", **labels}}
    made["status"]["podIP"] = ip
    return made


def test_a_namespace_lists_its_resources_and_unselected_drivers():
    port = {"selector": {"app": "etl"}, "controlPort": 9000}
    pods = [labelled("a", "10.0.0.1", app="etl"), labelled("b", "10.0.0.2", app="clicks")]
    absent = body("nightly", driver={"selector": {"app": "nightly"}})
    resources = [body("orders", driver=port), absent, body("wrong", driver={})]
    scan = namespace_scan("k8s://n", "token", lambda: (pods, resources))
    jobs = {job.name: job for job in scan() if isinstance(job, DriverJob)}
    assert jobs["orders"].address == "10.0.0.1:9000"
    assert jobs["clicks"].address == "10.0.0.2:8085"
    words = {row["name"]: row["sentence"] for row in Jobs(lambda: [jobs["nightly"]]).rows()}
    assert words == {"nightly": "It cannot be read: no pod of its driver runs"}
    assert set(jobs) == {"orders", "clicks", "nightly", "wrong"}


def test_labels_select_drivers_without_resources():
    pods = [labelled("a", "10.0.0.1", app="etl")]
    scan = namespace_scan("k8s://n?team=x&port=8099", None, lambda: (pods, [body("orders")]))
    (job,) = scan()
    assert isinstance(job, DriverJob)
    assert (job.name, job.address) == ("etl", "10.0.0.1:8099")


@pytest.mark.parametrize("place", ["k8s://", "k8s://n?port=x"])
def test_a_place_without_a_namespace_is_rejected(place):
    with pytest.raises(BadInput, match="k8s://NAMESPACE"):
        namespace_scan(place, None, lambda: ((), ()))


def test_two_hundred_jobs_are_listed_and_unchanged_ones_are_not_read_again(tmp_path, monkeypatch):
    journal(tmp_path / "job-000", [tick(place) for place in range(20)])
    for number in range(1, 200):
        shutil.copytree(tmp_path / "job-000", tmp_path / f"job-{number:03d}")
    jobs = jobs_of([str(tmp_path)], lambda _: True)
    assert len(jobs.rows()) == 200
    folds: list[float] = []
    monkeypatch.setattr(Fold, "add", lambda self, record: folds.append(record.t_s))
    monkeypatch.setattr("rheostat.control.jobs.time.time", lambda: NOON_S)
    jobs.rows()
    folds.clear()
    assert len(jobs.rows()) == 200
    assert folds == []
