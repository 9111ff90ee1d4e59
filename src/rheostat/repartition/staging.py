"""The staged checkpoint that receives the new state: a folder of links inside the first checkpoint.

No query reads it, so incomplete files in it are harmless. It is a complete checkpoint, so that
everything that rewrites or reads state works on it, including Spark's own reader.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from rheostat.errors import BadInput
from rheostat.repartition.groups import finished_places
from rheostat.repartition.repartition_log import OWN_FOLDER, StagedFile
from rheostat.storage.file_system import (
    FileStatus,
    FileSystem,
    StorageError,
    moves_in_one_step,
    numbered,
)
from rheostat.storage.local_files import LocalFileSystem

LOG = "_spark_metadata"
COMPACT = ".compact"
EMPTY = "v1"
COMPACT_INTERVAL = 10
"""Spark's ``spark.sql.streaming.fileSink.log.compactInterval``, if no batch is compacted yet."""


class SinkLog:
    """The log in the output folder of a query's file sink: one entry per batch.

    A repartition uses the number of a batch that the sink does not receive. Spark compacts the log
    every tenth batch and fails if a number is missing.
    """

    def __init__(self, files: FileSystem, output: str) -> None:
        self._files = files
        self._output = output.rstrip("/")
        self._log = f"{self._output}/{LOG}"

    def require_log(self) -> list[int]:
        """Return the numbers of its batches; raises BadInput if the log does not exist."""
        known = self._numbers()
        if not known:
            raise BadInput(f"{self._output} is not the folder of a file sink: it has no {LOG}")
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
        """Return the merged text of all entries before a batch, the last compaction first."""
        compacted = self._compacted()
        names = [f"{number}{COMPACT}" for number in compacted[-1:]]
        later = [number for number in self._numbers() if number < batch]
        first = compacted[-1] if compacted else -1
        names += [str(number) for number in later if number > first]
        entries = (self._files.read_text(f"{self._log}/{name}") or "" for name in names)
        lines = [line for entry in entries for line in entry.splitlines()[1:]]
        return "\n".join([EMPTY, *lines])

    def _interval(self) -> int:
        """Return Spark's compaction interval: the distance of the last two compactions or, after
        one compaction, the smallest divisor of its number that is at least the default.
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


STAGED = f"{OWN_FOLDER}/staged"
"""The folder of the staged checkpoint below a checkpoint."""


class Staging:
    """The staged checkpoint in the folder ``folder`` of ``checkpoint``."""

    def __init__(self, checkpoint: str, files: FileSystem) -> None:
        self.folder = f"{checkpoint}/{STAGED}"
        self._checkpoint = checkpoint
        self._files = files

    @property
    def notes(self) -> str:
        """The folder of the notes about completed work."""
        return f"{self.folder}/notes"

    def prepare(self, disk: LocalFileSystem) -> None:
        """Create the folder with a link per file; after an interruption, keep the work that is
        noted as finished and delete the rest.
        """
        if disk.status(self.notes) is not None:
            self._drop_unfinished()
            return
        disk.delete(self.folder)
        for part in ("offsets", "commits", "state"):
            disk.link_tree(f"{self._checkpoint}/{part}", f"{self.folder}/{part}")
        disk.make_folder(self.notes)  # last, because it marks the links as complete

    def _drop_unfinished(self) -> None:
        finished = {*finished_places(self._files, self.notes)}
        for file in self.new_files():
            inside = PurePosixPath(file.name)
            if not finished & {str(inside.parent), str(inside.parent.parent)}:
                self._files.delete(f"{self.folder}/{file.name}")

    def write_entries(self, batch: int, offsets: str, commit: str) -> None:
        """Write the batch into both logs of the staged checkpoint."""
        for log, text in (("offsets", offsets), ("commits", commit)):
            self._files.create(f"{self.folder}/{log}/{batch}", text)

    def new_files(self) -> tuple[StagedFile, ...]:
        """Return the state files that the first checkpoint does not have."""
        below = self._files.files_below(f"{self.folder}/state")
        staged = (_staged(f"state/{inside}", status) for inside, status in sorted(below.items()))
        return tuple(
            file for file in staged if self._files.status(f"{self._checkpoint}/{file.name}") is None
        )

    def in_place(
        self, files: tuple[StagedFile, ...], taken_ns: int | None
    ) -> tuple[StagedFile, ...]:
        """Return those files that are in place and have not been replaced since. ``taken_ns`` is
        when another writer took the number of the batch; None where none has.
        """
        return tuple(file for file in files if self._is_placed(file, taken_ns))

    def place(self, file: StagedFile) -> None:
        """Move a file into the first checkpoint."""
        self._files.move(f"{self.folder}/{file.name}", f"{self._checkpoint}/{file.name}")

    def withdraw(self, file: StagedFile) -> None:
        """Delete a file from the first checkpoint."""
        self._files.delete(f"{self._checkpoint}/{file.name}")

    def clear(self) -> None:
        """Delete the staged checkpoint; the files of the first one stay."""
        self._files.delete(self.folder)

    def upload(self, folder: str, file: StagedFile) -> StagedFile:
        """Copy a file from a local folder into the staged checkpoint."""
        name = f"{self.folder}/{file.name}"
        self._files.upload(Path(folder, file.name), name)
        status = self._files.status(name)
        if status is None or status.bytes != file.bytes:
            there = status.bytes if status else 0
            raise StorageError(f"{name} was not copied: it has {there} of {file.bytes} bytes")
        return _staged(file.name, status)

    def _is_placed(self, file: StagedFile, taken_ns: int | None) -> bool:
        status = self._files.status(f"{self._checkpoint}/{file.name}")
        if status is None or moves_in_one_step(self._checkpoint):
            return status is not None and _staged(file.name, status) == file
        # A copy has a time of its own. Until another writer has taken the number of the batch, no
        # query writes a file of this name; the clock is the store's own for both times.
        mine = taken_ns is None or status.changed_ns < taken_ns
        return mine and status.bytes == file.bytes


def _staged(name: str, status: FileStatus) -> StagedFile:
    return StagedFile(name=name, bytes=status.bytes, mtime_ns=status.changed_ns)
