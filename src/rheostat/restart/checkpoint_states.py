"""Reads the state of local checkpoints, and repartitions it in a separate process:
``python -m rheostat.restart.checkpoint_states CHECKPOINT PARTITIONS SINK`` (no file sink: empty).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rheostat.errors import BadInput, RheostatError
from rheostat.local.spark_home import find_spark_home
from rheostat.machine.process import Child
from rheostat.repartition.checkpoint import Checkpoint, read_checkpoint
from rheostat.repartition.preflight import UNFINISHED
from rheostat.repartition.repartition_log import RepartitionLog
from rheostat.repartition.spark_rewriter import require_spark
from rheostat.storage.file_system import is_remote, local_path
from rheostat.storage.local_files import LocalFileSystem

REPARTITION_LIMIT_S = 24 * 3600.0


class CheckpointStates:
    """Reads checkpoints; remote ones, and those without state, have no partitions."""

    def partitions(self, checkpoints: Sequence[str]) -> list[int]:
        """Return the state partitions of each checkpoint that has state."""
        return [checkpoint.partitions for checkpoint in _read(checkpoints)]

    def uncommitted(self, checkpoint: str) -> bool:
        """Return whether a planned batch is not committed; that of an unfinished repartition does
        not count, because its own protocol ends it.
        """
        state = RepartitionLog(str(local_path(checkpoint)), LocalFileSystem()).read()
        if state is not None and state.phase in UNFINISHED:
            return False
        return any(stopped.uncommitted for stopped in _read([checkpoint]))

    def repartition(self, checkpoint: str, partitions: int, sink: str) -> str:
        """Repartition in a separate process, whose Spark session ends with it; return the reason of
        a failure, or an empty text.
        """
        command = [sys.executable, "-m", "rheostat.restart.checkpoint_states"]
        with tempfile.TemporaryDirectory(prefix="rheostat-repartition-") as folder:
            log = Path(folder) / "log"
            with Child([*command, checkpoint, str(partitions), sink], log=log) as child:
                code = child.wait(REPARTITION_LIMIT_S)
            output = log.read_text(encoding="utf-8", errors="replace").splitlines()
        own = [line.removeprefix("rheostat: ") for line in output if line.startswith("rheostat: ")]
        if code == 0:
            return ""
        return own[-1] if own else f"the process ended with {code}: {' '.join(output[-2:])}"


def require_repartition_support() -> None:
    """Raise BadInput if this Python's PySpark cannot repartition state, before a job is stopped in
    vain: its supervisor repartitions with the job's own PySpark.
    """
    try:
        version = find_spark_home().version
    except BadInput:  # another Python runs the job and checks this itself
        return
    require_spark(
        version,
        "other state partitions of a supervised job need PySpark 4.3: stop the job, and use the"
        " rheostat state repartition of a Python with PySpark 4.3 (the query's own Spark may be"
        " 4.0)",
    )


def _read(checkpoints: Sequence[str]) -> Iterator[Checkpoint]:
    for location in checkpoints:
        if not is_remote(location):
            try:
                yield read_checkpoint(location, LocalFileSystem())
            except BadInput:  # no state, or an older Spark's: nothing to repartition
                continue


def main(arguments: Sequence[str]) -> int:
    """Repartition, and return the exit code; a refusal is one line on standard error."""
    from rheostat.repartition.repartition_runner import quiet
    from rheostat.repartition.spark_repartition import repartition_here

    checkpoint, partitions, sink = arguments
    try:
        repartition_here(checkpoint, int(partitions), quiet, sink, check_stopped=_stopped)
    except RheostatError as refused:
        sys.stderr.write(f"rheostat: {refused}\n")
        return refused.exit_code
    return 0


def _stopped(*_: object) -> None:
    """Skip the check of the logs: the supervisor has ended the process of the query."""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
