"""State that real Spark has written with another number of partitions, replayed without Spark.

A repartition that is killed at a hundred points cannot start a hundred JVMs: real stores write the
new state once, and every point gets copies of those files.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from rheostat.repartition.repartition_log import RepartitionLog, Written
from rheostat.repartition.state_engine import (
    Progress,
    Rewrite,
    Rewritten,
    StateVersion,
    StoreCount,
    StoreId,
)
from rheostat.storage.local_files import LocalFileSystem


class RecordedState:
    """Rewrites state by copying the result of Spark's repartition in ``done``; calls ``wrote``
    before every file.
    """

    def __init__(self, done: Path, wrote: Callable[[], None] = lambda: None) -> None:
        state = RepartitionLog(str(done), LocalFileSystem()).read()
        assert state is not None
        assert state.written is not None
        self._done = done
        self._written: Written = state.written
        self._wrote = wrote

    def measure(self, state: StateVersion) -> Mapping[StoreId, StoreCount]:
        return self._written.after

    def rewrite(self, wanted: Rewrite, progress: Progress | None = None) -> Rewritten:
        for file in self._written.files:
            self._wrote()
            place = Path(wanted.source.checkpoint) / file.name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self._done / file.name, place)
        return Rewritten(before=self._written.before, after=self._written.after, ids={})
