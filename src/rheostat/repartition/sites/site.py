"""Where the checkpoint is that is repartitioned: a folder of this computer, or one elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from rheostat.repartition.checkpoints.checkpoint import Checkpoint, read_checkpoint
from rheostat.repartition.checkpoints.checkpoint_files import LocalFiles, local_folder
from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.preflight import require_fit
from rheostat.repartition.protocol.repartition_log import RepartitionState
from rheostat.repartition.protocol.repartition_runner import ProgressCallback, RepartitionRunner
from rheostat.repartition.protocol.sink_log import SinkLog


class Site(Protocol):
    """A checkpoint that can be changed; ``folder`` may be anything that has a path's methods."""

    @property
    def folder(self) -> Path:
        """The checkpoint's folder."""
        ...

    @property
    def disk(self) -> Disk:
        """What changes its files."""
        ...

    def read(self) -> Checkpoint:
        """Return its contents."""
        ...

    def written_below(self, part: str) -> Mapping[str, float]:
        """Return the files below a folder of it, by their names from there on, with the time at
        which each was written (Unix seconds).
        """
        ...

    def require_fit(self, checkpoint: Checkpoint, partitions: int) -> None:
        """Raise BadInput where it cannot be repartitioned."""
        ...

    def sink_log(self, output: str) -> SinkLog:
        """Return the log of a sink on the same file system."""
        ...

    def runner(
        self, state: RepartitionState, clock: Callable[[], float], progress: ProgressCallback
    ) -> RepartitionRunner:
        """Return a runner that continues a repartition from this state."""
        ...


class LocalSite:
    """A checkpoint on this computer; raises BadInput where there is none."""

    def __init__(self, location: str, disk: Disk) -> None:
        self.folder = local_folder(location)
        self.disk = disk

    def read(self) -> Checkpoint:
        """Return its contents."""
        return read_checkpoint(str(self.folder), LocalFiles())

    def written_below(self, part: str) -> Mapping[str, float]:
        """Return the files below a folder of it, and when each was written."""
        root = self.folder / part
        files = (path for path in root.rglob("*") if path.is_file())
        return {file.relative_to(root).as_posix(): file.stat().st_mtime for file in files}

    def require_fit(self, checkpoint: Checkpoint, partitions: int) -> None:
        """Raise BadInput where it cannot be repartitioned."""
        require_fit(checkpoint, partitions)

    def sink_log(self, output: str) -> SinkLog:
        """Return the log of a sink on the same file system."""
        return SinkLog(Path(output).absolute(), self.disk)

    def runner(
        self, state: RepartitionState, clock: Callable[[], float], progress: ProgressCallback
    ) -> RepartitionRunner:
        """Return a runner that continues a repartition from this state."""
        return RepartitionRunner(
            self.folder, state, disk=self.disk, clock=clock, on_progress=progress
        )
