"""A small query that counts keys, with Spark's rules of starting and of loading state.

A version of a store is a file in its partition: ``V.delta`` if the query has written it,
``V.snapshot`` if the toy engine has; as in Spark, a snapshot is loaded if there is one. So state
that a repartition leaves behind corrupts the query, as it would in Spark.
"""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.unit.repartition.checkpoint_on_disk import write_operator

from rheostat.repartition.state_engine import (
    Progress,
    Rewrite,
    Rewritten,
    StateVersion,
    StoreCount,
    StoreId,
)

ROWS = 35
"""Rows of the source; a batch reads five of them."""

STORE = StoreId(0, "default")


class Refused(Exception):
    """The query does not start; the message states why. Nothing is damaged."""


def key(row: int) -> str:
    return f"key-{row * 7 % 13}"


def partition(name: str, partitions: int) -> int:
    return zlib.crc32(name.encode()) % partitions


def expected(rows: int) -> list[list[object]]:
    """Return the sink's output after an uninterrupted run: row, key, count so far."""
    return [[row, key(row), sum(key(r) == key(row) for r in range(row + 1))] for row in range(rows)]


class ToyQuery:
    """``log`` is the log of a file sink, which ignores a batch that it knows."""

    def __init__(self, checkpoint: Path, partitions: int = 4, log: Path | None = None) -> None:
        self.checkpoint = checkpoint
        self.log = log
        self.first_partitions = partitions

    def run(self, batches: int | None = None) -> None:
        """Run ``batches`` batches, or to the end of the source."""
        done = 0
        while (batches is None or done < batches) and self._batch():
            done += 1

    @property
    def output(self) -> list[list[object]]:
        files = sorted((self.checkpoint / "sink").glob("*"), key=lambda path: int(path.name))
        return [row for file in files for row in json.loads(file.read_text())]

    @property
    def partitions(self) -> int:
        offsets = self._numbers("offsets")
        return self._planned(offsets[-1])[0] if offsets else self.first_partitions

    def _batch(self) -> bool:
        offsets, commits = self._numbers("offsets"), self._numbers("commits")
        last, commit_batch = (offsets or [-1])[-1], (commits or [-1])[-1]
        if last > commit_batch:
            if last and (
                last - 1 not in offsets or self._planned(last)[0] != self._planned(last - 1)[0]
            ):
                raise Refused("STREAMING_UNFINISHED_REPARTITION_DETECTED")
            batch = last
        else:
            begin = self._planned(last)[1] if offsets else 0
            if begin >= ROWS:
                return False
            batch = last + 1
            self._plan(batch, self.partitions, begin + 5)
        self._execute(batch)
        return True

    def _plan(self, batch: int, partitions: int, end: int) -> None:
        conf = {"spark.sql.shuffle.partitions": str(partitions)}
        metadata = json.dumps({"batchTimestampMs": batch, "conf": conf}, separators=(",", ":"))
        _write(self.checkpoint / "offsets" / str(batch), f"v1\n{metadata}\n{end}")

    def _execute(self, batch: int) -> None:
        partitions, end = self._planned(batch)
        begin = self._planned(batch - 1)[1] if batch else 0
        stores = [load(self.checkpoint, p, batch) for p in range(partitions)]
        output_rows: list[list[object]] = []
        for row in range(begin, end):
            store = stores[partition(key(row), partitions)]
            store[key(row)] = store.get(key(row), 0) + 1
            output_rows.append([row, key(row), store[key(row)]])
        for number, store in enumerate(stores):
            name = self.checkpoint / "state" / "0" / str(number) / f"{batch + 1}.delta"
            _write(name, json.dumps(store))
        write_operator(self.checkpoint)
        if self.log is None or batch not in _numbers(self.log):
            _write(self.checkpoint / "sink" / str(batch), json.dumps(output_rows))
            if self.log is not None:
                _write(self.log / str(batch), "v1")
        _write(self.checkpoint / "commits" / str(batch), 'v1\n{"nextBatchWatermarkMs":0}')

    def _planned(self, batch: int) -> tuple[int, int]:
        lines = (self.checkpoint / "offsets" / str(batch)).read_text().split("\n")
        return int(json.loads(lines[1])["conf"]["spark.sql.shuffle.partitions"]), int(lines[2])

    def _numbers(self, log: str) -> list[int]:
        return _numbers(self.checkpoint / log)


def _numbers(log: Path) -> list[int]:
    return sorted(int(path.name) for path in log.glob("*") if path.name.isdecimal())


def load(checkpoint: Path, number: int, version: int) -> dict[str, int]:
    if version == 0:
        return {}
    folder = checkpoint / "state" / "0" / str(number)
    for name in (f"{version}.snapshot", f"{version}.delta"):
        if (folder / name).is_file():
            return dict(json.loads((folder / name).read_text()))
    raise AssertionError(f"CANNOT_LOAD_STATE_STORE {folder} {version}")


class ToyEngine:
    """Rewrites the toy's state; calls ``wrote`` before writing each file."""

    def __init__(self, wrote: Callable[[], None] = lambda: None, lose: int = 0) -> None:
        self._wrote = wrote
        self._lose = lose

    def measure(self, state: StateVersion) -> Mapping[StoreId, StoreCount]:
        folder = Path(state.checkpoint)
        rows = [
            (number, *item)
            for number in range(state.partitions)
            for item in load(folder, number, state.batch + 1).items()
        ]
        return {
            STORE: StoreCount(
                rows=len(rows),
                checksum=sum(zlib.crc32(f"{name} {count}".encode()) for _, name, count in rows),
                bytes=len(rows),
                misplaced=sum(partition(name, state.partitions) != at for at, name, _ in rows),
            )
        }

    def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
        source = wanted.source
        folder = Path(source.checkpoint)
        new: list[dict[str, int]] = [{} for _ in range(wanted.partitions)]
        for number in range(source.partitions):
            for name, count in load(folder, number, source.batch + 1).items():
                new[partition(name, wanted.partitions)][name] = count + self._lose
        for number, store in enumerate(new):
            self._wrote()
            file = folder / "state" / "0" / str(number) / f"{wanted.batch + 1}.snapshot"
            _write(file, json.dumps(store))
            if progress:
                progress(number + 1, wanted.partitions)
        counts = self.measure(source)
        return Rewritten(before=counts, after=counts, ids={})


def copy_checkpoint(checkpoint: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(checkpoint, to, copy_function=shutil.copy2))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.tmp")
    fresh.write_text(text)
    fresh.replace(path)
