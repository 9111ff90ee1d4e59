"""The log of a sink that writes files (``parquet``, ``json``, ...): one entry per batch.

A repartition takes the number of a batch that the sink does not receive. Spark compacts the log
every tenth batch and fails if a number is missing, so that the query cannot start again. The number
therefore gets an entry without files. The checkpoint does not contain the folder of the sink; the
user names it.
"""

from __future__ import annotations

from rheostat.errors import BadInput
from rheostat.storage.file_system import FileSystem, numbered

LOG = "_spark_metadata"
COMPACT = ".compact"
EMPTY = "v1"
COMPACT_INTERVAL = 10
"""Spark's ``spark.sql.streaming.fileSink.log.compactInterval`` where no batch is compacted yet."""


class SinkLog:
    """The log of the folder that a query writes files to."""

    def __init__(self, files: FileSystem, output: str) -> None:
        self._files = files
        self._output = output.rstrip("/")
        self._log = f"{self._output}/{LOG}"

    def require_log(self) -> list[int]:
        """Return the numbers of its batches; raises BadInput if there is no such log."""
        known = self._numbers()
        if not known:
            raise BadInput(
                f"{self._output} is no folder that a file sink writes to: it has no {LOG}"
            )
        return known

    def require_newest(self, batch: int) -> None:
        """Raise BadInput unless the newest batch of the log is that of the checkpoint."""
        known = self.require_log()
        if max(known) != batch:
            raise BadInput(
                f"{self._output} is not the sink of this query: its newest batch is {max(known)},"
                f" that of the checkpoint is {batch}"
            )

    def add_empty(self, batch: int) -> bool:
        """Add an entry without files for a batch; False if it has one, or no longer needs one."""
        known = self._numbers()
        if batch in known or batch < max(self._compacted(), default=-1):
            return False
        if (batch + 1) % self._interval():
            return self._files.create(f"{self._log}/{batch}", EMPTY)
        return self._files.create(f"{self._log}/{batch}{COMPACT}", self._merged(batch))

    def take_out(self, batch: int) -> None:
        """Delete the entry of a batch whose number the query may use again."""
        for name in (str(batch), f"{batch}{COMPACT}"):
            self._files.delete(f"{self._log}/{name}")

    def _merged(self, batch: int) -> str:
        """Return all entries before a batch as one, those of the last compaction first."""
        compacted = self._compacted()
        names = [f"{number}{COMPACT}" for number in compacted[-1:]]
        later = [number for number in self._numbers() if number < batch]
        first = compacted[-1] if compacted else -1
        names += [str(number) for number in later if number > first]
        entries = (self._files.read_text(f"{self._log}/{name}") or "" for name in names)
        lines = [line for entry in entries for line in entry.splitlines()[1:]]
        return "\n".join([EMPTY, *lines])

    def _interval(self) -> int:
        """Return how often Spark compacts: as the last two compactions are apart, or, after one,
        the least divisor of its number that is not below the usual one.
        """
        compacted = self._compacted()
        if len(compacted) > 1:
            return compacted[-1] - compacted[-2]
        if not compacted:
            return COMPACT_INTERVAL
        compacted_entries = compacted[0] + 1
        divisors = [
            n
            for n in range(COMPACT_INTERVAL, compacted_entries // 2 + 1)
            if compacted_entries % n == 0
        ]
        return divisors[0] if divisors else compacted_entries

    def _compacted(self) -> list[int]:
        return sorted(
            int(name.removesuffix(COMPACT))
            for name in self._files.names(self._log)
            if name.endswith(COMPACT) and name.removesuffix(COMPACT).isdecimal()
        )

    def _numbers(self) -> list[int]:
        return sorted([*numbered(self._files, self._log), *self._compacted()])
