"""The downtime of a change of size: the state-size job under ``rheostat run``, rescaled live, by
restarts, and by restarts with other state partitions.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rheostat.errors import RheostatError
from rheostat.journal.control_channel import FOLDER, PERSON, ControlChannel, RestartRequest
from rheostat.journal.folder import read
from rheostat.restart.restart_state import RestartLog
from rheostat_lab.services.broker import Broker
from rheostat_lab.varga import file_policy, state_size_job
from rheostat_lab.varga.gaps import downtime_s
from rheostat_lab.varga.spec import Spec
from rheostat_lab.varga.state_size_topics import Output, OutputReader, Topics

DEADLINE_S = 300.0
STEADY = 6
"""Number of batches before a change, and after it."""

_POLL_S = 0.2


def measure(spec: Spec, progress: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """Yield one row for each way, size, target and repetition."""
    with Broker() as broker:
        for size in spec.sizes_mb:
            for way in spec.ways:
                topics = Topics(broker.bootstrap, f"{way}-{size}", spec.value_bytes)
                with (
                    tempfile.TemporaryDirectory(
                        prefix="rheostat-downtime-", ignore_cleanup_errors=True
                    ) as name,
                    _running(spec, way, size, Path(name), topics) as job,
                ):
                    for target in [*spec.parallelism] * spec.repetitions:
                        row = {"way": way, "size_mb": size, **job.change(target)}
                        progress(f"{way}, {size} MB, to {target}: {row['downtime_s']}")
                        yield row


class RunningJob:
    """The job of one way and size; ``partitions`` is its current number of state partitions."""

    def __init__(
        self, folder: Path, way: str, partitions: int, process: Any, reader: OutputReader
    ) -> None:
        self._folder, self._way, self._process = folder, way, process
        self._reader = reader
        self._partitions = (partitions, partitions + partitions // 2)
        self._changes = 0

    def change(self, executors: int) -> dict[str, Any]:
        """Rescale to this number of executors and return the cost, as the output shows it."""
        self._more_batches("steady batches")
        ordered_s, self._changes = time.time(), self._changes + 1
        self._order(executors)
        self.until(f"{executors} executors", lambda: self._is_reached(executors))
        settled_s = time.time()
        self._more_batches("batches after it")
        output = self.output()
        row = {
            "parallelism": executors,
            "downtime_s": downtime_s(output.ends_s(), ordered_s, settled_s),
            "settled_s": settled_s - ordered_s,
            "elapsed_s": output.longest_s(ordered_s),
        }
        return row if self._way == "live" else {**row, **self._restart_timing()}

    def output(self) -> Output:
        """Return the output that a reader of its topic has read so far."""
        return self._reader.follow()

    def until(self, what: str, reached: Callable[[], bool]) -> None:
        """Wait; raises RheostatError if the job has ended, or after the deadline."""
        deadline = time.monotonic() + DEADLINE_S
        while not reached():
            if self._process.poll() is not None or time.monotonic() > deadline:
                errors = (self._folder / "errors").read_text(encoding="utf-8")[-600:]
                raise RheostatError(f"not within {DEADLINE_S:g} s: {what}; {errors}")
            time.sleep(_POLL_S)

    def _more_batches(self, what: str) -> None:
        before = len(self.output().batches)
        self.until(what, lambda: len(self.output().batches) >= before + STEADY)

    def _order(self, executors: int) -> None:
        if self._way == "live":
            (self._folder / "target").write_text(str(executors))
            return
        partitions = self._partitions[self._changes % 2] if self._way == "repartition" else None
        request = RestartRequest(
            t_s=time.time(), reason="experiment", executors=executors, partitions=partitions
        )
        ControlChannel(self._folder / "journal" / FOLDER).write_request(PERSON, request)

    def _is_reached(self, executors: int) -> bool:
        if self._way != "live":
            last = self._kept().last()
            done = last is not None and last.restarts == self._changes
            return done and last is not None and last.phase == "running"
        last_record = None
        for last_record in read(self._folder / "journal"):  # noqa: B007
            pass
        return (
            last_record is not None
            and last_record.target == executors
            and last_record.rescaling.phase == "steady"
        )

    def _restart_timing(self) -> dict[str, Any]:
        restart = self._kept().restarts()[-1]
        return {
            "told_s": restart.down_s,
            "spent_s": dict(restart.spent_s),
            "refusal": restart.refusal,
        }

    def _kept(self) -> RestartLog:
        return RestartLog(self._folder / "journal" / FOLDER)


@contextmanager
def _running(spec: Spec, way: str, size: int, folder: Path, topics: Topics) -> Iterator[RunningJob]:
    (folder / "target").write_text("1")
    keys = size * 1_000_000 // spec.value_bytes
    topics.write(range(keys))
    reader = OutputReader(topics)
    with (folder / "errors").open("w") as errors, topics.fed(keys):
        process = subprocess.Popen(
            [*map(str, _command(spec, way, folder, topics))],
            stdout=errors,
            stderr=errors,
            env=os.environ,
        )
        try:
            yield RunningJob(folder, way, spec.partitions, process, reader)
        finally:
            (folder / "enough").touch()
            process.terminate()
            process.wait(90)
            reader.close()


def _command(spec: Spec, way: str, folder: Path, topics: Topics) -> list[object]:
    live = ["--actuator", "live", "--placement", "force"]
    ours = live if way == "live" else ["--actuator", "restart", "--restart-pause", "86400"]
    policy = ["--policy", f"{file_policy.__name__}:FromFile", "--set", f"path={folder / 'target'}"]
    waits = ["--interval", "1", "--cooldown-out", "0", "--cooldown-in", "0"]
    waits += ["--reversal-hold", "0"]
    place = ["--local", max(spec.parallelism), "--journal", folder / "journal"]
    line = ["run", *ours, *policy, *waits, *place, "--kafka", topics.bootstrap]
    job = [folder, topics.bootstrap, topics.read, topics.written, spec.partitions]
    return [sys.executable, "-m", "rheostat.cli", *line, state_size_job.__file__, "--", *job]
