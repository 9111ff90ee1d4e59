"""The log of a repartition and the entries that it writes."""

import json
from pathlib import Path

from rheostat.repartition.repartition_log import (
    JOURNAL,
    Plan,
    RepartitionLog,
    commit_entry,
    offset_entry,
)
from rheostat.storage.local_files import LocalFileSystem


def test_the_offset_entry_differs_only_in_its_number_of_partitions() -> None:
    last = (
        'v1\n{"batchWatermarkMs":5,"conf":{"spark.sql.shuffle.partitions":"4","ö":"é"}}\n{"t":1}\n-'
    )
    assert offset_entry(last, 7) == last.replace('"4"', '"7"')


def test_the_commit_entry_has_the_new_ids() -> None:
    ids = {"0": (("a",), ("b",))}
    version, text = commit_entry('v2\n{"nextBatchWatermarkMs":3}', ids).split("\n")
    assert version == "v2"
    assert json.loads(text) == {"nextBatchWatermarkMs": 3, "stateUniqueIds": {"0": [["a"], ["b"]]}}
    assert commit_entry("v1\n{}", {}) == "v1\n{}"


def test_a_truncated_line_is_ignored(tmp_path: Path) -> None:
    journal = RepartitionLog(str(tmp_path), LocalFileSystem())
    plan = Plan(batch=3, partitions_before=4, partitions=7, lock="l", guard="g")
    journal.begin(plan, 1.0)
    with (tmp_path / JOURNAL).open("a") as file:
        file.write('{"phase":"wri')
    assert _phase(journal) == ("begun", "")
    journal.note("withdrawing", 2.0, reason="why")
    assert _phase(journal) == ("withdrawing", "why")


def _phase(journal: RepartitionLog) -> tuple[str, str] | None:
    state = journal.read()
    return (state.phase, state.reason) if state else None
