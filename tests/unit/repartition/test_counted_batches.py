"""The oracle of the histories on S3A: which input files each committed batch has processed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.repartition.counting_query import committed_batches, expected, expected_of, words

from rheostat.storage.local_files import LocalFileSystem

SOURCE_LOG = [["000"], ["001"], ["002"]]


def checkpoint(folder: Path, planned: list[int], committed: int) -> str:
    """Write the logs of a query: the source's last entry in each batch, and the commits."""
    for log in ("offsets", "commits", "sources/0"):
        (folder / log).mkdir(parents=True)
    for entry, names in enumerate(SOURCE_LOG):
        lines = [json.dumps({"path": f"file:///in/{name}.json", "batchId": 0}) for name in names]
        (folder / "sources/0" / str(entry)).write_text("\n".join(["v1", *lines]))
    for batch, entry in enumerate(planned):
        text = f'v1\n{{"batchWatermarkMs":0}}\n{{"logOffset":{entry}}}'
        (folder / "offsets" / str(batch)).write_text(text)
    for batch in range(committed):
        (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    return str(folder)


def test_a_file_that_was_logged_but_not_planned_is_in_the_next_batch(tmp_path: Path) -> None:
    name = checkpoint(tmp_path, planned=[0, 0, 2], committed=3)
    assert committed_batches(name, LocalFileSystem()) == [[0], [], [1, 2]]


def test_a_planned_batch_that_is_not_committed_is_reported(tmp_path: Path) -> None:
    name = checkpoint(tmp_path, planned=[0, 1, 2], committed=2)
    with pytest.raises(AssertionError, match=r"\[0, 1, 2\], \[0, 1\]"):
        committed_batches(name, LocalFileSystem())


def test_two_files_in_a_batch_have_the_final_counts_of_two_batches() -> None:
    alone, together = expected(2), expected_of([[], [0, 1]])
    assert len(together) == 1
    assert {*map(tuple, alone[1])} <= {*map(tuple, together[0])}
    assert {word for word, _ in together[0]} == {*words(0), *words(1)}
