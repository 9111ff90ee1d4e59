"""The log of a file sink, compared with a model of Spark's compacting log: it lists the same data
files for any subset of the log files that remains."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import RheostatError
from rheostat_lab.demo.file_sink import LOG, committed_files


class Sink:
    """A sink in the format of Spark's ``FileStreamSinkLog``: each ``every``-th batch is compact."""

    def __init__(self, folder: Path, every: int) -> None:
        self.folder, self.every, self.batch = folder, every, 0
        self.files: list[Path] = []
        (folder / LOG).mkdir()

    def commit(self, count: int) -> None:
        """Commit a batch of new files, whose names must be escaped in a URI."""
        fresh = [self.folder / f"part {self.batch}-{number} 50%.parquet" for number in range(count)]
        for path in fresh:
            path.touch()
        self.files += fresh
        compact = (self.batch + 1) % self.every == 0
        named = self.files if compact else fresh
        lines = [json.dumps({"path": path.as_uri(), "size": 1, "action": "add"}) for path in named]
        name = f"{self.batch}.compact" if compact else str(self.batch)
        (self.folder / LOG / name).write_text("\n".join(["v1", *lines]))
        (self.folder / LOG / f".{name}.crc").touch()
        self.batch += 1


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(2, 5), st.data())
def test_committed_files_do_not_depend_on_deleted_old_logs(
    counts: list[int], every: int, data: st.DataObject
) -> None:
    with TemporaryDirectory() as name:
        sink = Sink(Path(name), every)
        for count in counts:
            sink.commit(count)
        assert sorted(committed_files(sink.folder)) == sorted(sink.files)
        last = sink.batch // every * every - 1
        old = [log for log in (sink.folder / LOG).iterdir() if log.suffix != ".crc"]
        for path in old:
            # Spark deletes the files that a compact log replaces, later and in any order.
            if int(path.name.partition(".")[0]) < last and data.draw(st.booleans()):
                path.unlink()
        assert sorted(committed_files(sink.folder)) == sorted(sink.files)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0 is of version ''"),
        ("v2\n", "0 is of version 'v2'"),
        ('v1\n{"path":"file:///a', "0 is not a complete log of a batch"),
    ],
)
def test_an_unreadable_log_is_reported_with_its_file(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / LOG).mkdir()
    (tmp_path / LOG / "0").write_text(text)
    with pytest.raises(RheostatError, match=message):
        committed_files(tmp_path)


def test_a_sink_without_a_log_has_committed_nothing(tmp_path: Path) -> None:
    with pytest.raises(RheostatError, match="no batch was committed there"):
        committed_files(tmp_path)


def test_a_batch_without_files_is_logged(tmp_path: Path) -> None:
    sink = Sink(tmp_path, every=10)
    sink.commit(0)
    assert committed_files(tmp_path) == []
