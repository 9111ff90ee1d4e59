"""A checkpoint on HDFS: its state is rewritten on this computer, uploaded where no query looks, and
then put in its place by renames, with an entry of the offset log as the lock.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from rheostat.errors import RheostatError
from rheostat.repartition.checkpoints.checkpoint import Checkpoint, read_checkpoint
from rheostat.repartition.checkpoints.checkpoint_files import CheckpointFiles, LocalFiles
from rheostat.repartition.checkpoints.state_files import missing_file
from rheostat.repartition.protocol.disk import Disk
from rheostat.repartition.protocol.preflight import require_repartition, require_room_for
from rheostat.repartition.protocol.repartition_log import RepartitionState, Written
from rheostat.repartition.protocol.repartition_runner import ProgressCallback, RepartitionRunner
from rheostat.repartition.protocol.sink_log import SinkLog
from rheostat.repartition.protocol.staging import known_file
from rheostat.repartition.sites.hadoop_disk import HadoopDisk
from rheostat.repartition.sites.remote_path import RemotePath
from rheostat.repartition.state_engine import Rewriter, StateVersion
from rheostat.spark.internals.file_systems.files import Files
from rheostat.spark.internals.file_systems.hadoop_system import HadoopSystem
from rheostat.spark.internals.gateway import Gateway


def remote_site(spark: Any, location: str) -> RemoteSite:
    """Return a checkpoint that a session of Spark reaches; raises BadInput where it does not."""
    files = Files(Gateway(spark))
    files.require(location)
    return RemoteSite(files, HadoopSystem(spark, location))


class RemoteSite:
    """A checkpoint that is not on this computer: what reads it, and what changes it."""

    def __init__(self, files: CheckpointFiles, system: HadoopSystem) -> None:
        self._files = files
        self._system = system
        # It has those methods of a path that a repartition calls.
        self.folder = cast("Path", RemotePath(system, system.root))
        self.disk: Disk = HadoopDisk(self._system)

    def read(self) -> Checkpoint:
        """Return its contents."""
        return read_checkpoint(str(self.folder), self._files)

    def written_below(self, part: str) -> Mapping[str, float]:
        """Return the files below a folder of it, and when each was written."""
        return self._system.written_below(self.folder / part)

    def require_fit(self, checkpoint: Checkpoint, partitions: int) -> None:
        """Raise BadInput where it cannot be repartitioned, or this computer has no room for it."""
        require_repartition(checkpoint, partitions)
        state_bytes = self._files.bytes_in(f"{self.folder}/state") or 0
        here = Path(tempfile.gettempdir())
        require_room_for(here, 2 * state_bytes, str(self.folder), f"the disk of {here}")

    def sink_log(self, output: str) -> SinkLog:
        """Return the log of a sink on the same file system."""
        return SinkLog(cast("Path", RemotePath(self._system, output.rstrip("/"))), self.disk)

    def runner(
        self, state: RepartitionState, clock: Callable[[], float], progress: ProgressCallback
    ) -> RepartitionRunner:
        """Return a runner that continues a repartition from this state."""
        return RemoteRunner(
            self.folder,
            state,
            disk=self.disk,
            clock=clock,
            on_progress=progress,
            system=self._system,
        )


class RemoteRunner(RepartitionRunner):
    """Writes the new state into a local copy and uploads it; see ``RepartitionRunner``."""

    def __init__(self, *arguments: Any, system: HadoopSystem, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._system = system

    def write(self, rewriter: Rewriter, source: StateVersion) -> Written:
        """Write the new state on this computer, and upload it."""
        self._disk.clear(self._staging.folder)  # of an upload that was interrupted
        copy = Path(tempfile.mkdtemp(prefix="rheostat-state-"))
        try:
            for part in ("offsets", "commits", "state"):
                self._system.download(self._checkpoint / part, str(copy / part))
            missing = missing_file(read_checkpoint(str(copy), LocalFiles()))
            if missing:
                raise RheostatError(f"{missing} is missing: restore it from a backup, then again")
            here = RepartitionRunner(
                copy, self.state, disk=Disk(), clock=self._clock, on_progress=self._on_progress
            )
            return self._uploaded(here.write(rewriter, source), here.staged)
        finally:
            shutil.rmtree(copy, ignore_errors=True)

    def _output(self, sink: str) -> Path:
        return cast("Path", RemotePath(self._system, sink.rstrip("/")))

    def _uploaded(self, written: Written, folder: Path) -> Written:
        files = []
        for number, file in enumerate(written.files, 1):
            self._system.upload(str(folder / file.name), self._staging.folder / file.name)
            there = known_file(self._staging.folder, file.name)
            if there.bytes != file.bytes:
                raise RheostatError(f"{file.name} has {there.bytes} of {file.bytes} bytes there")
            files.append(there)
            self._on_progress("begun", number, len(written.files))
        return replace(written, files=tuple(files))
