"""The size of a journal is bounded, and the required records are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.config import JournalOptions
from rheostat.errors import BadInput
from rheostat.journal import explanation
from rheostat.journal.folder import FolderJournal
from rheostat.journal.reading import records
from rheostat.journal.retention import Retention, prune, segments, turning_points
from rheostat.model import Decision, Observation, Record, Rescaling

JOURNAL = JournalOptions(journal_mib=1, journal_days=1)
DAY_S = 86_400.0


def tick(
    t_s: float, size: int | None, target: int | None, halted: bool, reason_length: int = 0
) -> Record:
    return Record(
        t_s=t_s,
        observation=None if size is None else Observation(t_s=t_s, executors=size),
        queries=(),
        raw=Decision(target=1, reason="x" * reason_length),
        guards=(),
        target=target,
        actions=(),
        rescaling=Rescaling(phase="halted" if halted else "idle"),
    )


sizes = st.none() | st.integers(1, 3)
ticks = st.lists(st.tuples(sizes, sizes, st.booleans()), max_size=60)


def journal(folder: Path, per_segment: int = 4) -> FolderJournal:
    return FolderJournal(folder, per_segment, JOURNAL)


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.jsonl"))


@given(course=ticks)
def test_removing_unchanged_records_preserves_what_explain_reports(course):
    complete = [tick(float(n), *item) for n, item in enumerate(course)]
    kept = list(turning_points(complete))
    assert list(explanation.changes(kept)) == list(explanation.changes(complete))


# A step: seconds until the next tick, the length of its reason, and whether the process restarts.
steps = st.lists(
    st.tuples(
        st.sampled_from([5.0, DAY_S / 3, 2 * DAY_S]),
        st.sampled_from([10, 5_000, 50_000]),
        st.booleans(),
        sizes,
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=40)
@given(steps=steps)
def test_after_appends_and_restarts_memory_and_newest_records_exist(steps, tmp_path_factory):
    folder = tmp_path_factory.mktemp("journal")
    kept, now, written = journal(folder), 0.0, []
    for n, (wait_s, reason_length, restarts, size) in enumerate(steps):
        if restarts:
            kept.close()
            kept = journal(folder)
            assert kept.restore() == ({"n": n - 1} if n else {})
        now += wait_s
        written.append(tick(now, size, 2, halted=False, reason_length=reason_length))
        kept.append(written[-1], {"n": n})
        assert kept.restore() == {"n": n}
        assert size_of(folder) <= 1024**2
    kept.close()
    read = [record for _, record in records(folder)]
    assert read[-1] == written[-1]
    assert [record for record in written if record in read] == read, "in order, none made up"
    newest = [record for record in written if record.t_s >= now - DAY_S]
    if (
        sum(reason_length + 300 for _, reason_length, _, _ in steps)
        < Retention.of(JOURNAL).changes_bytes
    ):
        assert read[-len(newest) :] == newest
        assert list(explanation.changes(read)) == list(explanation.changes(written))


def test_an_old_segment_is_reduced_to_its_changes(tmp_path):
    kept = journal(tmp_path, per_segment=3)
    for n in range(6):
        kept.append(tick(float(n), 1, 1 + n // 4, halted=False), {})
    kept.append(tick(2 * DAY_S, 1, 1, halted=False), {})
    kept.close()
    names = sorted(path.name for path in tmp_path.glob("*.jsonl"))
    assert names == ["changes-00000.jsonl", "changes-00001.jsonl", "segment-00002.jsonl"]
    assert [record.t_s for _, record in records(tmp_path)] == [0, 3, 4, 2 * DAY_S]


def test_a_crash_during_pruning_duplicates_no_record(tmp_path):
    kept = journal(tmp_path, per_segment=3)
    for n in range(3):
        kept.append(tick(float(n), 1, 1, halted=False), {})
    kept.close()
    (tmp_path / "changes-00000.jsonl").write_text((segments(tmp_path)[0]).read_text())
    assert [record.t_s for _, record in records(tmp_path)] == [0, 1, 2]


def test_files_that_are_not_journals_are_never_deleted(tmp_path):
    (tmp_path / "segment-00000.jsonl").write_text('{"t_s": 0, "mine": true}\n' * 100_000)
    prune(tmp_path, Retention(most_bytes=1000, most_s=1.0), now=1e9)
    assert segments(tmp_path)[0].stat().st_size > 1_000_000


@pytest.mark.parametrize(
    "given",
    [
        {"journal_mib": 0.5},
        {"journal_mib": float("nan")},
        {"journal_mib": float("inf")},
        {"journal_days": 0.0},
        {"journal_days": float("nan")},
    ],
)
def test_a_journal_without_size_or_age_limit_is_rejected(given):
    with pytest.raises(BadInput, match=f"it is {next(iter(given.values())):g}"):
        JournalOptions(**given)
