"""Where the new state is written: a second checkpoint inside the first, made of links.

No query looks there, so whatever is written, half or whole, changes nothing. It is a whole
checkpoint: whatever rewrites or reads state can be pointed at it, Spark's own reader included.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.repartition_log import OWN_FOLDER, StagedFile
from rheostat.repartition.rewrite.notes import finished_places


class Staging:
    """The second checkpoint of ``checkpoint``; ``folder`` is where it is."""

    def __init__(self, checkpoint: Path, disk: Disk) -> None:
        self.folder = checkpoint / OWN_FOLDER / "staged"
        self._checkpoint = checkpoint
        self._disk = disk

    @property
    def notes(self) -> Path:
        """Where finished work is noted."""
        return self.folder / "notes"

    def prepare(self) -> None:
        """Make it; costs a link a file. Of a start that was interrupted, what is noted as finished
        stays, and what was left half is deleted.
        """
        if self.notes.is_dir():
            self._drop_unfinished()
            return
        self._disk.clear(self.folder)
        for part in ("offsets", "commits", "state"):
            self._disk.mirror(self._checkpoint / part, self.folder / part)
        self._disk.make(self.notes)  # the last of it: the links are whole

    def _drop_unfinished(self) -> None:
        finished = {*finished_places(self.notes)}
        for name in [*self._new_names()]:
            inside = Path(name)
            if not finished & {str(inside.parent), str(inside.parent.parent)}:
                self._disk.drop(self.folder / name)

    def write_entries(self, batch: int, offsets: str, commit: str) -> None:
        """Write the batch into both logs of the second checkpoint."""
        for log, text in (("offsets", offsets), ("commits", commit)):
            self._disk.write_entry(self.folder / log / str(batch), text)

    def new_files(self) -> tuple[StagedFile, ...]:
        """Return the files of the state that the first checkpoint does not have."""
        return tuple(known_file(self.folder, name) for name in sorted(self._new_names()))

    def unplaced(self, files: tuple[StagedFile, ...]) -> tuple[StagedFile, ...]:
        """Return those files that are not in their places in the first checkpoint."""
        return tuple(file for file in files if not self._is_placed(file))

    def in_place(self, files: tuple[StagedFile, ...]) -> tuple[StagedFile, ...]:
        """Return those files that are in their places and that nobody has replaced since."""
        return tuple(file for file in files if self._is_placed(file))

    def place(self, file: StagedFile) -> None:
        """Put a file in its place in the first checkpoint."""
        self._disk.move(self.folder / file.name, self._checkpoint / file.name)

    def withdraw(self, file: StagedFile) -> None:
        """Delete a file from its place."""
        self._disk.drop(self._checkpoint / file.name)

    def clear(self) -> None:
        """Delete the second checkpoint; the first one's files have their own names."""
        self._disk.clear(self.folder)

    def _is_placed(self, file: StagedFile) -> bool:
        place = self._checkpoint / file.name
        return place.is_file() and known_file(self._checkpoint, file.name) == file

    def _new_names(self) -> Iterator[str]:
        for folder, _, names in os.walk(self.folder / "state"):
            for name in names:
                inside = (Path(folder) / name).relative_to(self.folder)
                if not (self._checkpoint / inside).exists():
                    yield str(inside)


def known_file(root: Path, name: str) -> StagedFile:
    """Return a file as it is known again, also under another root."""
    stat = (root / name).stat()
    return StagedFile(name=name, bytes=stat.st_size, mtime_ns=stat.st_mtime_ns)
