from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat_lab.services.own_folder import MARKER, OwnFolder, claim, is_marked, remove_marked


def held(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MARKER
    }


@pytest.mark.parametrize("made", [False, True])
def test_a_new_or_empty_folder_is_claimed(tmp_path, made):
    path = tmp_path / "a" / "b"
    if made:
        path.mkdir(parents=True)
    assert claim(path, "--out").names == ()
    assert is_marked(path)
    claim(path, "--out").ours("report.html").write_text("")
    assert claim(path, "--out").names == ("report.html",)


def test_a_non_empty_folder_is_rejected_and_left_unchanged(tmp_path):
    (tmp_path / "thesis.tex").write_text("years")
    with pytest.raises(BadInput, match=r"--out .* holds thesis.tex, and Rheostat did not make"):
        claim(tmp_path, "--out")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_rejected(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="is a file; name a folder"):
        claim(tmp_path / "file", "--out")
    with pytest.raises(BadInput, match="cannot be used: Not a directory"):
        claim(tmp_path / "file" / "below", "--out")


def test_only_own_files_are_removed(tmp_path):
    folder = claim(tmp_path / "out", "--out")
    folder.ours("report.html").write_text("old")
    (folder.path / "notes.txt").write_text("mine")
    folder.remove_files()
    assert held(folder.path) == {"notes.txt": "mine"}
    assert folder.names == ()


def test_a_user_file_of_the_same_name_is_not_replaced(tmp_path):
    folder = claim(tmp_path / "out", "--out")
    (folder.path / "plot.png").write_text("mine")
    with pytest.raises(BadInput, match=r"plot.png was not written by Rheostat"):
        folder.ours("plot.png")
    folder.remove_files()
    assert held(folder.path) == {"plot.png": "mine"}


@pytest.mark.parametrize("torn", ["", "{", "[]", "null", '{"files": ["x"]}', "name: mine"])
def test_an_invalid_marker_does_not_claim_a_folder(tmp_path, torn):
    (tmp_path / MARKER).write_text(torn)
    (tmp_path / "x").write_text("mine")
    with pytest.raises(BadInput):
        claim(tmp_path, "--out")
    remove_marked(tmp_path)
    assert (tmp_path / "x").read_text() == "mine"


def test_a_claimed_folder_is_removed_completely(tmp_path):
    folder = claim(tmp_path / "cluster", "the folder")
    (folder.path / "work" / "app").mkdir(parents=True)
    remove_marked(folder.path)
    assert not folder.path.exists()
    remove_marked(folder.path)


names = st.sampled_from(["a", "b", "c", "d"])


@given(steps=st.lists(st.tuples(st.sampled_from(["we", "they", "clear"]), names), max_size=12))
def test_user_files_always_survive(tmp_path_factory, steps):
    folder = claim(tmp_path_factory.mktemp("any"), "--out")
    theirs: dict[str, str] = {}
    for actor, name in steps:
        if actor == "clear":
            folder.remove_files()
        elif actor == "they" and name not in folder.names:
            (folder.path / name).write_text("theirs")
            theirs[name] = "theirs"
        elif actor == "we":
            _write_ours(folder, name, name in theirs)
    assert {name: held(folder.path).get(name) for name in theirs} == theirs


def _write_ours(folder: OwnFolder, name: str, is_theirs: bool) -> None:
    if is_theirs:
        with pytest.raises(BadInput):
            folder.ours(name)
    else:
        folder.ours(name).write_text("ours")
