from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rheostat.machine.process import Child
from rheostat.machine.scratch_folder import LOCK, ScratchFolder, sweep

KILLED = """
import os, signal, sys
from pathlib import Path
from rheostat.machine.process import Child
from rheostat.machine.scratch_folder import ScratchFolder
folder = ScratchFolder("test")
(folder.path / "work").mkdir()
(folder.path / "work" / "file").write_text("x")
if "child" in sys.argv:
    line = ["sh", "-c", "trap '' TERM; while [ ! -e go ]; do sleep 0.02; done; touch late"]
    Child(line, log=folder.path / "log", folder=folder.path, holds=[folder.lock])
print(folder.path, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def kill_process(*arguments: str) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True
    )
    assert done.returncode == -9, done.stderr
    return Path(done.stdout.strip())


def test_a_folder_exists_until_it_is_removed(place):
    with ScratchFolder("test") as path:
        assert path.parent == place
        assert [entry.name for entry in path.iterdir()] == [LOCK]
        (path / "a").mkdir()
        (path / "a" / "b").write_text("")
    assert list(place.iterdir()) == []


def test_removing_twice_does_nothing(place):
    folder = ScratchFolder("test")
    folder.remove()
    folder.remove()
    assert list(place.iterdir()) == []


def test_the_next_folder_removes_that_of_a_killed_process(place):
    left = kill_process()
    assert (left / "work" / "file").exists()
    with ScratchFolder("test") as path:
        assert list(place.iterdir()) == [path]


def test_the_folder_of_a_live_process_is_kept(place):
    ours = ScratchFolder("test")
    script = "from rheostat.machine.scratch_folder import *; print(sweep(Path(sys.argv[1])))"
    line = [sys.executable, "-c", f"import sys; from pathlib import Path; {script}", str(place)]
    assert subprocess.run(line, capture_output=True, text=True).stdout == "[]\n"
    assert sweep(place) == []
    ours.remove()


def test_a_folder_still_used_by_a_child_of_a_dead_process_is_kept(place):
    left = kill_process("child")
    assert sweep(place) == []
    (left / "go").touch()
    while left.exists():
        sweep(place)
    assert list(place.iterdir()) == []


def test_folders_without_our_lock_are_never_removed(place):
    (place / "rheostat-thesis").mkdir()
    (place / "rheostat-thesis" / "years").write_text("mine")
    (place / "elsewhere").mkdir()
    (place / "elsewhere" / LOCK).touch()
    (place / "rheostat-link").symlink_to(place / "elsewhere")
    (place / "rheostat-file").touch()
    assert sweep(place) == []
    assert len(list(place.iterdir())) == 4


def test_the_target_of_a_link_is_kept(place):
    (place / "data").mkdir()
    (place / "data" / "file").touch()
    with ScratchFolder("test") as path:
        (path / "link").symlink_to(place / "data")
    assert (place / "data" / "file").exists()


def test_a_childs_command_does_not_hold_the_lock(place):
    with ScratchFolder("test") as path:
        folder = ScratchFolder("held")
        fd = f"/proc/self/fd/{folder.lock}"
        with Child(["ls", fd], log=path / "log", holds=[folder.lock]) as child:
            assert child.wait(20) != 0
        folder.remove()
