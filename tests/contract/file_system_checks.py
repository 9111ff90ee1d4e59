"""The contract of every file system; each check gets a file system and an empty folder in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rheostat.storage.file_system import FileSystem

Check = Callable[[FileSystem, str, Path], None]


def absent_files_are_none(files: FileSystem, folder: str, here: Path) -> None:
    name = f"{folder}/absent"
    assert (files.read_text(name), files.status(name), files.size(name)) == (None, None, None)
    assert files.names(name) == []
    assert files.files_below(name) == {}
    files.delete(name)


def writing_replaces_the_complete_file(files: FileSystem, folder: str, here: Path) -> None:
    for text in ("longer than the next\n", "é\n"):
        files.write(f"{folder}/a/b", text)
        assert files.read_text(f"{folder}/a/b") == text
    assert files.names(f"{folder}/a") == ["b"]


def a_name_is_created_only_once(files: FileSystem, folder: str, here: Path) -> None:
    assert files.create(f"{folder}/log/5", "first")
    assert not files.create(f"{folder}/log/5", "second")
    assert files.read_text(f"{folder}/log/5") == "first"
    assert files.names(f"{folder}/log") == ["5"]


def lines_are_appended_and_immediately_readable(files: FileSystem, folder: str, here: Path) -> None:
    for number in range(3):
        files.append(f"{folder}/log", f"{number}\n")
        assert files.read_text(f"{folder}/log") == "".join(f"{n}\n" for n in range(number + 1))
    files.append(f"{folder}/other", "x\n")
    files.append(f"{folder}/log", "3\n")
    assert files.read_text(f"{folder}/log") == "0\n1\n2\n3\n"
    files.close()


def an_incomplete_line_is_ended_before_the_next(files: FileSystem, folder: str, here: Path) -> None:
    files.write(f"{folder}/log", "whole\nto")
    files.append(f"{folder}/log", "next\n")
    assert files.read_text(f"{folder}/log") == "whole\nto\nnext\n"


def files_are_listed_with_sizes_and_times(files: FileSystem, folder: str, here: Path) -> None:
    for name in ("b", "a/1", "a/2"):
        files.write(f"{folder}/x/{name}", name)
    below = files.files_below(f"{folder}/x")
    assert {name: status.bytes for name, status in below.items()} == {"b": 1, "a/1": 3, "a/2": 3}
    assert files.names(f"{folder}/x") == ["a", "b"]
    assert files.size(f"{folder}/x") == 7
    assert files.size(f"{folder}/x/b") == 1
    status, parent = files.status(f"{folder}/x/b"), files.status(f"{folder}/x/a")
    assert status is not None
    assert parent is not None
    assert (status.is_folder, parent.is_folder) == (False, True)
    assert below["b"].changed_s == status.changed_s


def a_moved_file_replaces_an_existing_one(files: FileSystem, folder: str, here: Path) -> None:
    files.write(f"{folder}/staged/1", "new")
    files.write(f"{folder}/state/1", "old")
    files.move(f"{folder}/staged/1", f"{folder}/state/1")
    files.write(f"{folder}/staged/2", "another")
    files.move(f"{folder}/staged/2", f"{folder}/elsewhere/2")
    assert files.read_text(f"{folder}/state/1") == "new"
    assert files.read_text(f"{folder}/elsewhere/2") == "another"
    assert files.names(f"{folder}/staged") == []


def a_folder_is_deleted_with_its_contents(files: FileSystem, folder: str, here: Path) -> None:
    for name in ("a/1", "a/b/2", "c"):
        files.write(f"{folder}/y/{name}", name)
    files.delete(f"{folder}/y/a")
    files.delete(f"{folder}/y/c")
    files.flush()
    assert files.files_below(f"{folder}/y") == {}


def files_are_copied_to_this_computer_and_back(files: FileSystem, folder: str, here: Path) -> None:
    files.write(f"{folder}/z/a/1", "one")
    files.download(f"{folder}/z", here / "copy")
    assert (here / "copy" / "a" / "1").read_text() == "one"
    (here / "new").write_text("two")
    files.upload(here / "new", f"{folder}/z/b/2")
    files.upload(here / "new", f"{folder}/z/a/1")
    assert files.read_text(f"{folder}/z/b/2") == files.read_text(f"{folder}/z/a/1") == "two"


CHECKS: tuple[Check, ...] = (
    absent_files_are_none,
    writing_replaces_the_complete_file,
    a_name_is_created_only_once,
    lines_are_appended_and_immediately_readable,
    an_incomplete_line_is_ended_before_the_next,
    files_are_listed_with_sizes_and_times,
    a_moved_file_replaces_an_existing_one,
    a_folder_is_deleted_with_its_contents,
    files_are_copied_to_this_computer_and_back,
)
