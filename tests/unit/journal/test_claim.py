"""A journal has one writer at a time."""

from __future__ import annotations

import json
import socket
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.journal.test_remote_journal import FAR, record
from tests.unit.storage.memory_files import MemoryFileSystem

from rheostat.journal.claim import STALE_S, Claim
from rheostat.journal.folder import FolderJournal, erase, read
from rheostat.journal.remote_journal import RemoteJournal
from rheostat.storage.lease import BEAT_S, Owner
from rheostat.storage.local_files import LocalFileSystem

STEP_S = BEAT_S + 1


class Files(MemoryFileSystem):
    """The files of a journal in memory, with their own clock."""

    def __init__(self) -> None:
        super().__init__(clock=self.clock)
        self.now_s = 1_000.0

    def clock(self) -> float:
        return self.now_s

    def claim(self) -> Claim:
        return Claim(self, "journal", clock=self.clock)

    def other_computer_renews(self) -> None:
        owner = Owner(host="another computer", pid=1, started="1", stale_s=STALE_S)
        self.write("journal/lease.json", json.dumps(asdict(owner)))


def test_a_second_local_writer_gets_its_own_folder_at_once():
    files = Files()
    first, second, third = files.claim(), files.claim(), files.claim()
    assert [claim.place for claim in (first, second, third)] == ["", "writer-2", "writer-3"]
    assert first.held()
    assert second.held()
    assert "writes the journal itself" in second.why
    second.release()
    assert files.claim().place == "writer-2"


def test_a_remote_writers_journal_is_taken_over_once_it_is_silent():
    files = Files()
    files.other_computer_renews()
    claim = files.claim()
    assert (claim.place, claim.held()) == ("", False)
    files.now_s += STALE_S + 1
    assert (claim.place, claim.held()) == ("", True)


def test_a_remote_writer_that_renews_keeps_the_journal():
    files = Files()
    files.other_computer_renews()
    claim = files.claim()
    for _ in range(int(2 * STALE_S / STEP_S) + 2):
        files.now_s += STEP_S
        files.other_computer_renews()
        claim.held()
    assert (claim.place, claim.held()) == ("writer-2", True)


def test_a_suspended_writer_detects_its_replacement():
    files = Files()
    claim = files.claim()
    files.now_s += 600
    files.other_computer_renews()
    assert not claim.held()
    assert claim.place == ""


def test_a_slow_writer_expires_after_three_of_its_intervals():
    files = Files()
    Claim(files, "journal", interval_s=60.0, clock=files.clock)
    assert json.loads(files.contents["journal/lease.json"])["stale_s"] == 180.0


def test_a_released_claim_is_not_reacquired():
    files = Files()
    claim = files.claim()
    claim.release()
    files.now_s += STEP_S
    assert not claim.held()
    assert files.contents == {}


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["check", "release", "wait"]))))
def test_no_folder_ever_has_two_writers(steps):
    files = Files()
    claims = [files.claim() for _ in range(4)]
    for number, step in steps:
        if step == "wait":
            files.now_s += STEP_S
        elif step == "release":
            claims[number].release()
            claims[number] = files.claim()
        held = [claim.place for claim in claims if claim.held()]
        assert len(held) == len(set(held))


def test_records_are_buffered_until_the_remote_writer_has_ended(tmp_path: Path) -> None:
    files = Files()
    files.other_computer_renews()
    journal = FolderJournal(tmp_path, claim=files.claim())
    journal.append(record(1.0), {"n": 1})
    journal.append(record(2.0), {"n": 2})
    assert list(read(tmp_path)) == []
    files.now_s += STALE_S + 1
    journal.append(record(3.0), {"n": 3})
    assert [entry.t_s for entry in read(tmp_path)] == [1.0, 2.0, 3.0]
    assert journal.restore() == {"n": 3}


def test_a_replaced_writer_continues_in_a_folder_of_its_own(tmp_path: Path) -> None:
    files = Files()
    journal = FolderJournal(tmp_path, claim=files.claim())
    journal.append(record(1.0), {})
    for t_s in range(2, 20):
        files.now_s += STEP_S
        files.other_computer_renews()
        journal.append(record(float(t_s)), {})
    assert [entry.t_s for entry in read(tmp_path)] == [1.0]
    assert journal.folder == tmp_path / "writer-2"
    assert [entry.t_s for entry in read(journal.folder)] == [float(t_s) for t_s in range(2, 20)]


def test_a_remote_journal_is_uploaded_once_its_other_writer_has_ended(
    tmp_path: Path,
) -> None:
    files, far = Files(), MemoryFileSystem()
    files.other_computer_renews()
    journal = RemoteJournal(tmp_path, far, FAR, far_claim=files.claim())
    journal.append(record(1.0), {"n": 1})
    journal.carry()
    assert far.contents == {}
    files.now_s += STALE_S + 1
    journal.carry()
    assert f"{FAR}/memory.json" in far.contents
    journal.end()
    assert files.contents == {}


def test_a_second_remote_writer_uploads_to_its_own_folder(tmp_path: Path) -> None:
    files, far = Files(), MemoryFileSystem()
    files.claim()
    journal = RemoteJournal(tmp_path, far, FAR, far_claim=files.claim())
    journal.append(record(1.0), {"n": 1})
    journal.carry()
    assert far.folder(FAR) == {}
    assert "memory.json" in far.folder(f"{FAR}/writer-2")


def test_a_journals_kill_switch_halts_a_second_writer(tmp_path: Path) -> None:
    files = Files()
    files.claim()
    second = FolderJournal(tmp_path, claim=files.claim())
    assert second.halted() == ""
    (tmp_path / "STOP").touch()
    assert second.halted() == str(tmp_path / "STOP")


def test_a_remote_journals_kill_switch_halts_a_second_writer(tmp_path: Path) -> None:
    files, far = Files(), MemoryFileSystem()
    files.claim()
    second = RemoteJournal(tmp_path, far, FAR, far_claim=files.claim())
    far.write(f"{FAR}/STOP", "")
    second.carry()
    assert second.halted() == f"{FAR}/STOP"
    far.delete(f"{FAR}/STOP")
    second.carry()
    assert second.halted() == ""


def test_erasing_a_journal_erases_those_of_its_other_writers(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    claims = [Claim(LocalFileSystem(), str(folder)) for _ in range(2)]
    for claim in claims:
        journal = FolderJournal(folder, claim=claim)
        journal.append(record(1.0), {})
    erase(folder)
    assert not folder.exists()


@pytest.mark.parametrize("place", ["", "writer-2"])
def test_a_killed_writers_folder_goes_to_the_next_writer(place: str, tmp_path: Path) -> None:
    dead = Owner(host=socket.gethostname(), pid=2**22 + 1, started="1")
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / place / "lease.json").write_text(json.dumps(asdict(dead)))
    first, second = (Claim(LocalFileSystem(), str(tmp_path)) for _ in range(2))
    assert [first.place, second.place] == ["", "writer-2"]
