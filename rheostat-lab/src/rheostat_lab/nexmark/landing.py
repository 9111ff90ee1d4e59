"""Events as files of JSON lines, or as commits of Delta tables, in place of Kafka topics.

An address ``files:FOLDER`` or ``delta:FOLDER`` replaces that of a broker; each topic is a folder or
a table in FOLDER.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from rheostat.errors import RheostatError
from rheostat_lab.nexmark.encoding import encode, to_table
from rheostat_lab.nexmark.events import events

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyspark.sql import DataFrame, SparkSession

KINDS = ("files", "delta")
PUBLISH_S: Mapping[str, float] = {"files": 0.25, "delta": 0.5}
"""The time between two files of a topic, or between two commits of a table."""

PARTS: Mapping[str, int] = {"files": 4, "delta": 8}
"""Files per publication; 16 files per second occupy as many slots as 16 Kafka partitions."""

_PART = "part"


@dataclass(frozen=True, slots=True)
class Landing:
    """A folder in which events land as files or as Delta tables."""

    kind: str
    folder: Path

    def create(self, topic: str, events_kind: str) -> None:
        """Create an empty folder or table, which a stream needs at its start."""
        path = self.folder / topic
        path.mkdir(parents=True)
        if self.kind == "delta":
            _append(path, _parts(events_kind, 0, 0, 0, 0))

    def stream(self, spark: SparkSession, topic: str) -> DataFrame:
        """Return the stream of a topic: of lines in the column ``value``, or of events."""
        path = f"{self.folder}/{topic}"
        if self.kind == "files":
            return spark.readStream.text(path)
        return spark.readStream.format("delta").load(path).drop(_PART)

    def lines(self, topic: str) -> list[bytes]:
        """Return the records of all files of a topic."""
        files = sorted((self.folder / topic).glob("*.json"))
        return [line for file in files for line in file.read_bytes().splitlines()]

    def table(self, topic: str) -> pa.Table:
        """Return all events of a Delta table."""
        from deltalake import DeltaTable

        table: pa.Table = DeltaTable(str(self.folder / topic)).to_pyarrow_table()
        return table.drop_columns([_PART])


def landing_of(address: str) -> Landing | None:
    """Return the landing of an address; None for the address of a broker."""
    kind, _, folder = address.partition(":")
    return Landing(kind, Path(folder)) if kind in KINDS else None


class LandedEvents:
    """The events of a kind and a seed, published every ``PUBLISH_S`` into a topic of a landing.

    ``clock`` returns seconds.
    """

    def __init__(
        self,
        landing: Landing,
        topic: str,
        seed: int,
        kind: str = "bids",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._landing = landing
        self._path = landing.folder / topic
        self._seed = seed
        self._kind = kind
        self._clock = clock
        self._next_s = 0.0
        self._due: list[tuple[int, int, int]] = []
        """First event, number of events and creation time of each unpublished chunk."""

    def write(self, first: int, count: int, created_ms: int) -> int:
        """Accept events ``first`` to ``first + count - 1``; publish them if they are due."""
        self._due.append((first, count, created_ms))
        self.waiting()
        return count

    def waiting(self) -> int:
        """Return the number of unpublished events; publish them if they are due."""
        if self._due and self._clock() >= self._next_s:
            self._next_s = self._clock() + PUBLISH_S[self._landing.kind]
            self.flush(0.0)
        return sum(count for _, count, _ in self._due)

    def flush(self, within_s: float) -> int:
        """Publish the remaining events."""
        try:
            if self._due and self._landing.kind == "files":
                self._write_files()
            elif self._due:
                self._commit()
        except OSError as error:
            raise RheostatError(f"{self._path} accepts no more {self._kind}: {error}") from None
        self._due = []
        return 0

    def _write_files(self) -> None:
        """Write files of equal numbers of lines; each appears atomically."""
        lines = [
            line
            for first, count, created_ms in self._due
            for line in encode(events(self._kind, self._seed, first, count), created_ms)
        ]
        first, parts = self._due[0][0], PARTS["files"]
        for part in range(min(parts, len(lines))):
            hidden = self._path / f"_{first}"
            hidden.write_bytes(b"\n".join(lines[part::parts]) + b"\n")
            hidden.rename(self._path / f"{first:012d}-{part}.json")

    def _commit(self) -> None:
        tables = [_parts(self._kind, self._seed, *taken) for taken in self._due]
        _append(self._table, pa.concat_tables(tables))

    @cached_property
    def _table(self) -> DeltaTable:
        """The table; opened once, because opening reads its log."""
        from deltalake import DeltaTable

        return DeltaTable(str(self._path))


def _parts(kind: str, seed: int, first: int, count: int, created_ms: int) -> pa.Table:
    table = to_table(events(kind, seed, first, count), created_ms)
    parts = np.arange(first, first + count, dtype=np.int32) % PARTS["delta"]
    return table.append_column(_PART, pa.array(parts))


def _append(table: DeltaTable | Path, rows: pa.Table) -> None:
    from deltalake import write_deltalake

    write_deltalake(table, rows, mode="append", partition_by=[_PART])
