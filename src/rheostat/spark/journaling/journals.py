"""Locates an application's journal; a background thread transfers it and checks for halts."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rheostat.clusters.registry import cluster_manager
from rheostat.errors import BadInput
from rheostat.journal.claim import Claim
from rheostat.journal.folder import (
    MEMORY_FILE,
    FolderJournal,
    erase_old,
    require_known_folder,
    require_known_schema,
)
from rheostat.journal.remote_journal import RemoteJournal
from rheostat.machine.scratch_folder import state_folder
from rheostat.settings import Settings
from rheostat.spark.internals.hadoop_file_system import application_files
from rheostat.spark.internals.internals import Internals
from rheostat.spark.journaling.kill_switches import KillSwitches
from rheostat.spark.journaling.start_events import NotedCheckpoints
from rheostat.spark.resizing.poll_thread import PollThread
from rheostat.spark.sensing.capabilities import application_id, is_connect, is_in_cluster
from rheostat.storage.file_system import FileSystem, moves_in_one_step
from rheostat.storage.local_files import LocalFileSystem

_log = logging.getLogger("rheostat")
_DAY_S = 86_400.0


class SessionJournal:
    """The journal of an application, and its background tasks by their descriptions, each of which
    is run once per ``interval_s`` seconds.

    A failure of a task is logged once, and so is the recovery; the task is retried each time.
    """

    def __init__(
        self, journal: FolderJournal, tasks: Mapping[str, Callable[[], None]], interval_s: float
    ) -> None:
        self.journal = journal
        self._tasks = tasks
        self._failing: set[str] = set()
        self._thread = PollThread(
            lambda _: self.turn(), lambda _: interval_s, lambda: False, "rheostat-background"
        )

    def start(self) -> None:
        """Run the tasks once now, then repeatedly in a thread."""
        if self._tasks:
            self.turn()
            self._thread.start()

    def turn(self) -> None:
        """Run every task once; raises nothing."""
        for name, task in self._tasks.items():
            try:
                task()
            except Exception as fault:
                if name not in self._failing:
                    _log.warning("rheostat: %s: %s; the job continues", name, fault)
                self._failing.add(name)
            else:
                if name in self._failing:
                    _log.warning("rheostat: %s: recovered", name)
                self._failing.discard(name)

    def close(self) -> None:
        """End the tasks, and transfer the rest of the journal; a task that does not return within
        10 s is abandoned.
        """
        self._thread.stop()
        try:
            if isinstance(self.journal, RemoteJournal):
                self.journal.end()
        finally:
            self.journal.close()


def open_journal(spark: Any, settings: Settings, internals: Internals | None) -> SessionJournal:
    """Return the journal of an application with its tasks, which are not started.

    Raises BadInput for a journal that cannot be reached.
    """
    journal = journal_of(spark, settings)
    tasks: dict[str, Callable[[], None]] = {}
    if isinstance(journal, RemoteJournal):
        pause_s = _pause_s(journal.kept_at, settings)
        carry = Spaced(journal.carry, pause_s, journal.decided)
        tasks[f"the journal {journal.kept_at} cannot be reached"] = carry
    if internals is not None:
        noted = NotedCheckpoints(lambda: _checkpoints(spark, internals), journal.note)
        pause_s = settings.retention.object_store_s
        switches = KillSwitches(noted, application_files(spark), pause_s)
        journal.other_switch = switches.pulled
        tasks["the checkpoints cannot be checked for a kill switch"] = switches.poll
    return SessionJournal(journal, tasks, settings.loop.interval_s)


def journal_of(spark: Any, settings: Settings) -> FolderJournal:
    """Open the journal; in the default folder, erase journals that ended long ago."""
    options, interval_s = settings.retention, settings.loop.interval_s
    if isinstance(settings.journal, Path):
        claim = _claim(settings.journal, interval_s)
        return FolderJournal(settings.journal, options=options, claim=claim)
    place = default_place(not is_connect(spark) and is_in_cluster(spark))
    erase_old(place, time.time() - options.journal_days * _DAY_S)
    near = place / application_id(spark)
    if settings.journal is None:
        return FolderJournal(near, options=options, claim=_claim(near, interval_s))
    uri = settings.journal
    files = _reachable(spark, uri)
    # A renewal of the lease is three requests: half as often as a write is often enough.
    far_claim = _far_claim(files, uri, max(interval_s, 2 * _pause_s(uri, settings)))
    return RemoteJournal(near, files, uri, options, _claim(near, interval_s), far_claim)


def _claim(folder: Path, interval_s: float) -> Claim:
    """Return the claim of a writer on a folder; raises BadInput if it must not be written."""
    require_known_folder(folder)
    try:
        claim = Claim(LocalFileSystem(), str(folder), interval_s)
    except OSError as error:
        raise BadInput(f"the journal folder {folder} cannot be written: {error}") from None
    return _logged(claim, str(folder))


def _far_claim(files: FileSystem, uri: str, interval_s: float) -> Claim:
    """Return the claim on a folder of another file system."""
    try:
        require_known_schema(uri, files.read_text(f"{uri}/{MEMORY_FILE}"))
        claim = Claim(files, uri, interval_s)
    except OSError as error:
        raise BadInput(f"the journal cannot be written: {error}") from None
    return _logged(claim, uri)


def _logged(claim: Claim, journal: str) -> Claim:
    if claim.why:
        own = f"writes {journal}/{claim.place}" if claim.place else "waits until that has ended"
        _log.warning("rheostat: the journal %s is taken (%s); this one %s", journal, claim.why, own)
    return claim


def _pause_s(uri: str, settings: Settings) -> float:
    """Return the seconds between two uses of a folder: each costs money on an object store."""
    return 0.0 if moves_in_one_step(uri) else settings.retention.object_store_s


def default_place(in_container: bool = False) -> Path:
    """Return the default folder of journals; in a container, which has no home folder (YARN sets
    ``/home/``), in its working directory, which is deleted with it.
    """
    return Path.cwd() / "rheostat-journal" if in_container else state_folder() / "journal"


def check_journal(settings: Settings, deploy_mode: str) -> None:
    """Raise BadInput if an application that is about to start could not write its journal.

    A journal on another file system can be checked only once the application's JVM runs.
    """
    if isinstance(settings.journal, str):
        return
    folder = settings.journal or default_place(deploy_mode == "cluster")
    require_known_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadInput(
            f"the journal folder {folder} cannot be written: {error.strerror or error}"
        ) from None


def _reachable(spark: Any, uri: str) -> FileSystem:
    if is_connect(spark):
        raise BadInput(f"journal {uri}: a Spark Connect client has no file system; name a folder")
    files = application_files(spark)
    try:
        files.names(uri)
    except OSError as fault:
        raise BadInput(f"the journal cannot be reached: {fault}") from None
    return files


def _checkpoints(spark: Any, internals: Internals) -> list[str]:
    if internals.gateway.stopped():
        return []
    return list(filter(None, map(internals.queries.checkpoint, spark.streams.active)))


def after_death_text(spark: Any, settings: Settings, folder: Path) -> str:
    """Return what happens to a local journal after the driver's end; empty if it remains."""
    if isinstance(settings.journal, str):
        return f", kept in {settings.journal}"
    if is_connect(spark) or not is_in_cluster(spark):
        return ""
    if not cluster_manager(str(spark.sparkContext.master)).deletes(folder):
        return ""
    return (
        ", which is deleted with this container (a folder of hdfs:// or s3a://, or one on a volume,"
        " remains)"
    )


@dataclass(eq=False)
class Spaced:
    """A task that is run at most once per ``pause_s`` seconds, or at once where it is ``urgent``;
    after a failure it is run at the next call.
    """

    task: Callable[[], None]
    pause_s: float
    urgent: Callable[[], bool]
    clock: Callable[[], float] = time.monotonic
    _next_s: float = field(default=-math.inf, init=False)

    def __call__(self) -> None:
        """Run the task if it is time; raises what it raises."""
        now_s = self.clock()
        if now_s >= self._next_s or self.urgent():
            self.task()
            self._next_s = now_s + self.pause_s
