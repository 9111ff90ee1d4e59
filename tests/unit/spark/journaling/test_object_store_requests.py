"""An idle job sends few requests to an object store and misses no line and no kill switch."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.journal.test_totals import record
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.config import JournalOptions
from rheostat.errors import BadInput
from rheostat.journal.claim import Claim
from rheostat.journal.remote_journal import RemoteJournal
from rheostat.spark.journaling.journals import Spaced
from rheostat.spark.journaling.kill_switches import HALT_FILE, KillSwitches
from rheostat.storage.file_system import FileStatus, FileSystem, StorageError

JOURNAL, CHECKPOINT = "s3a://streams/journal", "s3a://streams/checkpoint"
TICK_S = 5.0
PAUSE_S = JournalOptions().object_store_s
TEXT_REQUESTS = 2
"""Reading a file that exists is a HEAD and a GET; every other call below is one request."""


class CountedStore(MemoryFileSystem):
    """Counts the requests as S3A makes them."""

    def __init__(self) -> None:
        super().__init__(append_limit_bytes=192 * 1024)
        self.requests = 0
        self.lose_response = False
        self._appended: dict[str, str] = {}

    def read_text(self, name: str) -> str | None:
        text = super().read_text(name)
        self.requests += 1 if text is None else TEXT_REQUESTS
        return text

    def files_below(self, folder: str) -> dict[str, FileStatus]:
        self.requests += 1
        return super().files_below(folder)

    def write(self, name: str, text: str) -> None:
        self.requests += 1
        super().write(name, text)

    def create(self, name: str, text: str) -> bool:
        self.requests += 1
        return super().create(name, text)

    def append(self, name: str, text: str) -> None:
        """Replace the object by all that is known to have been appended, and this."""
        self.requests += 1
        self._set(name, self._appended.get(name, "") + text)
        if self.lose_response:
            raise StorageError("the response is lost")
        self._appended[name] = self.contents[name]


class QuietJob:
    """A journal and a checkpoint on an object store, with a clock that is advanced by ticks."""

    def __init__(self, folder: Path, files: FileSystem, journal: str = JOURNAL) -> None:
        self.now_s = 0.0
        claim = Claim(files, journal, 2 * PAUSE_S, self.clock)
        self.journal = RemoteJournal(folder, files, journal, far_claim=claim)
        bucket = journal.rpartition("/")[0]
        checkpoints = [f"{bucket}/checkpoint", f"{bucket}/another"]
        self.switches = KillSwitches(lambda: checkpoints, files, PAUSE_S, self.clock)
        self.carry = Spaced(self.journal.carry, PAUSE_S, self.journal.decided, self.clock)

    def clock(self) -> float:
        return self.now_s

    def tick(self, size: int = 2) -> None:
        self.now_s += TICK_S
        self.journal.append(record(self.now_s, size), {})
        self.carry()
        self.switches.poll()


class CountedJob(QuietJob):
    """Runs on a store that counts its requests."""

    def __init__(self, folder: Path) -> None:
        self.store = CountedStore()
        super().__init__(folder, self.store)

    def remote_lines(self) -> int:
        files = self.store.folder(JOURNAL).items()
        return sum(text.count("\n") for name, text in files if name.startswith("segment"))


@pytest.fixture
def job(tmp_path: Path) -> CountedJob:
    return CountedJob(tmp_path / "near")


def test_an_idle_hour_needs_at_most_four_hundred_requests(job: CountedJob) -> None:
    for _ in range(720):
        job.tick()
    assert job.store.requests <= 400
    job.journal.end()
    assert job.remote_lines() == 720


def test_a_size_change_is_written_at_once(job: CountedJob) -> None:
    for _ in range(3):
        job.tick()
    assert job.remote_lines() == 1
    job.tick(size=3)
    assert job.remote_lines() == 4


def test_a_failed_write_is_retried_at_the_next_tick_without_loss(job: CountedJob) -> None:
    job.tick()
    job.store.lost = True
    with pytest.raises(OSError, match="nobody answers"):
        job.tick(size=3)
    job.store.lost = False
    job.tick(size=3)
    assert job.remote_lines() == 3


@pytest.mark.parametrize("limit_bytes", [1, 192 * 1024])
def test_an_unconfirmed_line_is_written_exactly_once(job: CountedJob, limit_bytes: int) -> None:
    job.store.append_limit_bytes = limit_bytes
    job.tick()
    job.store.lose_response = True
    with pytest.raises(OSError, match="is lost"):
        job.tick(size=3)
    job.store.lose_response = False
    job.tick(size=3)
    assert job.remote_lines() == 3


def test_a_halt_in_a_remote_checkpoint_is_detected_within_the_pause(job: CountedJob) -> None:
    job.tick()
    job.store.write(halt := f"{CHECKPOINT}/{HALT_FILE}", "")
    job.tick()
    assert job.switches.pulled() == ""
    for _ in range(round(PAUSE_S / TICK_S)):
        job.tick()
    assert job.switches.pulled() == halt
    job.store.delete(halt)
    for _ in range(round(PAUSE_S / TICK_S)):
        job.tick()
    assert job.switches.pulled() == ""


@pytest.mark.parametrize("seconds", [-1.0, 3601.0])
def test_an_invalid_pause_is_rejected(seconds: float) -> None:
    with pytest.raises(BadInput, match="object stores must be from 0 to 3600 s"):
        JournalOptions(object_store_s=seconds)
