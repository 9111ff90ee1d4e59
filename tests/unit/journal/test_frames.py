# mypy: disallow-untyped-calls=False
"""A journal in a notebook."""

import sys

import pytest

pytest.importorskip("pandas", reason="comes with the extra notebook")

from tests.unit.metrics.test_record_metrics import START, record

import rheostat
from rheostat.journal.folder import FolderJournal


@pytest.fixture
def journal(tmp_path):
    folder = FolderJournal(tmp_path / "journal")
    folder.note(START)
    for item in (
        record(1e9, 2, 4, input_rows_per_s=100.0),
        record(1e9 + 5, 3, 4, 4, phase="growing"),
        record(1e9 + 10, 4, 4),
        record(1e9 + 15, 4, None, phase="halted", detail="halted"),
    ):
        folder.append(item, {})
    folder.close()
    return rheostat.read_journal(folder.folder)


def test_the_history_has_a_row_per_tick_and_absent_values_are_missing(journal):
    history = journal.history()
    assert [*history["executors"]] == [2, 3, 4, 4]
    assert history.index[0].isoformat() == "2001-09-09T01:46:40+00:00"
    assert history["input_rows_per_s"].isna().tolist() == [False, True, True, True]
    assert history["target_executors"].isna().tolist() == [False, False, False, True]


def test_decisions_are_the_logged_events(journal):
    decisions = journal.decisions()
    assert [*decisions["event"]] == ["rescale", "halted"]
    assert [*decisions["target"].iloc[:1]] == [4]


def test_the_figure_has_a_panel_per_signal(journal):
    pytest.importorskip("matplotlib", reason="comes with the extra notebook")
    labels = [axes.get_ylabel() for axes in journal.plot().axes]
    assert labels == ["rows/s", "executors", "latency (s)", "backlog (rows)"]


def test_a_path_without_a_journal_is_rejected(tmp_path):
    with pytest.raises(rheostat.BadInput, match="no journal"):
        rheostat.read_journal(tmp_path)


def test_missing_pandas_is_reported_in_one_line(journal, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(rheostat.BadInput, match="pandas is missing"):
        journal.history()
