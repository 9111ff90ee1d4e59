"""The demo's changes to its output folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.journal.folder import FolderJournal
from rheostat.model import Record, Rescaling
from rheostat_lab.demo.results_folder import cleared

_RECORD = Record(
    t_s=1.0,
    observation=None,
    queries=(),
    raw=None,
    guards=(),
    target=None,
    actions=(),
    rescaling=Rescaling(phase="idle"),
)


def an_earlier_demo(out: Path) -> None:
    folder = cleared(out)
    journal = FolderJournal(out / "journal")
    journal.append(_RECORD, {"a": 1})
    journal.close()
    for name in ("plot.png", "report.html", "summary.json"):
        folder.ours(name).write_text("old")


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_folder_of_the_user_is_rejected_and_left_unchanged(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "year.csv").write_text("precious")
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(BadInput, match="Rheostat did not make this folder"):
        cleared(tmp_path)
    assert files(tmp_path) == ["data/year.csv", "report.html"]


def test_an_earlier_demo_is_replaced_and_user_files_are_kept(tmp_path):
    out = tmp_path / "out"
    an_earlier_demo(out)
    (out / "notes.txt").write_text("mine")
    (out / "journal" / "copy.jsonl").write_text("mine")
    cleared(out)
    assert files(out) == [".rheostat", "journal/copy.jsonl", "notes.txt"]
    an_earlier_demo(out)


def test_repeating_a_demo_in_a_folder_leaves_one_journal(tmp_path):
    an_earlier_demo(tmp_path / "out")
    an_earlier_demo(tmp_path / "out")
    assert files(tmp_path / "out") == [
        ".rheostat",
        "journal/memory.json",
        "journal/segment-00000.jsonl",
        "journal/summary.json",
        "plot.png",
        "report.html",
        "summary.json",
    ]


def test_a_leftover_kill_switch_is_reported_before_any_change(tmp_path):
    an_earlier_demo(tmp_path)
    (tmp_path / "journal" / "STOP").touch()
    before = files(tmp_path)
    with pytest.raises(BadInput, match="STOP would stop the autoscaler at once"):
        cleared(tmp_path)
    assert files(tmp_path) == before
