from __future__ import annotations

from pathlib import Path

from rheostat.kafka.checkpoint_offsets import committed_offsets
from rheostat.storage.local_files import LocalFileSystem

ENTRY = 'v1\n{"batchWatermarkMs":0,"conf":{}}\n'


def written(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return f"file:{folder}"


def test_offsets_of_the_last_committed_batch_are_read(
    tmp_path: Path,
) -> None:
    checkpoint = written(
        tmp_path,
        {
            "commits/9": "v1\n{}",
            "commits/10": "v1\n{}",
            "commits/.10.crc": "",
            "offsets/10": ENTRY + '{"a":{"0":3,"1":4}}\n{"b":{"0":5}}\n',
            "offsets/11": ENTRY + '{"a":{"0":30,"1":40}}\n{"b":{"0":50}}\n',
        },
    )
    assert committed_offsets(LocalFileSystem(), checkpoint) == {
        ("a", 0): 3,
        ("a", 1): 4,
        ("b", 0): 5,
    }


def test_before_the_first_commit_the_initial_offsets_are_read(tmp_path: Path) -> None:
    checkpoint = written(
        tmp_path,
        {"sources/0/0": '\0v1\n{"a":{"0":7}}', "offsets/0": ENTRY + '{"a":{"0":90}}\n'},
    )
    assert committed_offsets(LocalFileSystem(), checkpoint) == {("a", 0): 7}


def test_other_sources_and_missing_checkpoints_have_no_offsets(tmp_path: Path) -> None:
    other = written(tmp_path, {"commits/0": "v1\n{}", "offsets/0": ENTRY + '{"logOffset":3}\n-\n'})
    assert committed_offsets(LocalFileSystem(), other) is None
    assert committed_offsets(LocalFileSystem(), str(tmp_path / "none")) is None
    assert committed_offsets(LocalFileSystem(), "s3a://bucket/checkpoint") is None
