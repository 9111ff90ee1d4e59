"""Collects the facts about an application at its start: from the journal of its previous run, the
checkpoints of its queries, and the broker.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.capacity.initial_size import (
    InitialSize,
    StartFacts,
    capacity_rows_per_s,
    initial_size,
)
from rheostat.guards.starting import Starting
from rheostat.journal.folder import FolderJournal, memory_of
from rheostat.journal.remote_journal import RemoteJournal, journal_of_command, last_run, tails
from rheostat.kafka.checkpoint_offsets import committed_offsets
from rheostat.loop import FaultLog, Loop
from rheostat.model import Decision, Limits, Memory
from rheostat.plural import counted
from rheostat.ports import Actuator, Sensor
from rheostat.protocols.release import Release
from rheostat.settings import Settings
from rheostat.signals.lag import Offsets, lag_rows
from rheostat.spark.handle import Handle
from rheostat.spark.internals.internals import Internals
from rheostat.spark.journaling.journals import SessionJournal, default_place
from rheostat.spark.sensing.capabilities import application_id
from rheostat.state.proposed_count import Command
from rheostat.storage.file_system import FileSystem
from rheostat.storage.local_files import LocalFileSystem

if TYPE_CHECKING:
    from rheostat.kafka.offsets import Offsets as Broker

_log = logging.getLogger("rheostat")
_UNKNOWN = "the previous run is unknown"
Latest = Callable[[Sequence[str]], Offsets | None]
"""Requests the next offset of each partition of topics from the broker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A journal as the previous run left it."""

    segments_backwards: Iterable[str] = ()
    memory: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The initial size, and the guard that protects it until the start is complete."""

    facts: StartFacts
    size: InitialSize
    guard: Starting


def command_of(name: str) -> list[str]:
    """Return the identity of an application across starts: name, script and arguments."""
    script, *arguments = sys.argv or [""]
    return [name, str(Path(script).resolve()), *arguments]


def local_history(settings: Settings, name: str) -> History | None:
    """Return the history in a local journal, by default the newest of the same command."""
    folder = settings.journal
    if folder is None:
        folder = journal_of_command(default_place(), command_of(name))
    if not isinstance(folder, Path):
        return None
    return History(segments_backwards=tails(folder), memory=memory_of(folder))


def start_facts(
    history: History | None,
    configured: int,
    files: FileSystem,
    latest: Latest | None,
    now: float,
    before_s: float,
) -> StartFacts:
    """Return the facts about an application that starts at ``now``; unreadable facts are unknown.
    Only records before ``before_s`` count (both in Unix seconds).
    """
    facts = StartFacts(configured=configured)
    if history is None:
        return facts
    with suppress(OSError):
        run = last_run(history.segments_backwards, before_s)
        if run is not None:
            facts = replace(
                facts,
                last_size=run.size,
                last_age_s=now - run.t_s,
                capacity_rows_per_s=capacity_rows_per_s(run.observations),
            )
    if latest is None:
        return facts
    checkpoints = history.memory.get("rescaling", {}).get("checkpoints", ())
    return replace(facts, backlog_rows=_backlog_rows(checkpoints, files, latest))


def facts_before_session(settings: Settings, name: str, now: float) -> StartFacts:
    """Return the facts that are known before a session exists; raises nothing."""
    try:
        history, broker = local_history(settings, name), broker_of(settings.kafka)
        with closing(broker) if broker else nullcontext():
            latest = broker.latest if broker else None
            return start_facts(history, 1, LocalFileSystem(), latest, now, now)
    except Exception as fault:
        FaultLog(_UNKNOWN).warn(fault)
        return StartFacts()


def session_start(
    spark: Any,
    settings: Settings,
    internals: Internals,
    journal: FolderJournal,
    latest: Latest | None,
    configured: int,
) -> Start:
    """Return the start of an application whose session runs; raises nothing."""
    now, facts = time.time(), StartFacts(configured=configured)
    try:
        if isinstance(journal, RemoteJournal):
            far, memory = journal.segments_backwards(), journal.restore()
            history: History | None = History(segments_backwards=far, memory=memory)
        else:
            history = local_history(settings, str(spark.sparkContext.appName))
        before_s = spark.sparkContext.startTime / 1000
        facts = start_facts(history, configured, internals.files, latest, now, before_s)
    except Exception as fault:
        FaultLog(_UNKNOWN).warn(fault)
    return start_of(facts, settings, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of every autoscaler.

    ``ended`` returns whether the application has ended; ``command`` builds the command to
    repartition a query.
    """

    settings: Settings
    sensor: Sensor
    journaling: SessionJournal
    ended: Callable[[], bool]
    command: Command | None = None

    def handle(
        self, actuator: Actuator, start: Start | None = None, release: Release | None = None
    ) -> Handle:
        """Return the handle of the loop with this actuator; nothing runs before its start."""
        settings = self.settings
        loop = Loop(
            sensor=self.sensor,
            policy=settings.built_policy,
            guards=settings.built_guards,
            actuator=actuator,
            journal=self.journaling.journal,
            command=self.command,
        )
        loop.release = release
        return Handle(
            loop,
            self.journaling,
            capabilities=actuator.capabilities(),
            ended=self.ended,
            on_start=partial(begin, start, loop) if start else None,
            summary=settings.summary,
        )


def begin(start: Start, loop: Loop, now: float) -> None:
    """Request the initial size, and record it if more than the configured size is known."""
    executors = counted(start.size.executors, "executor")
    try:
        loop.request(Decision(target=start.size.executors, reason=start.size.reason), now)
    except Exception as fault:
        # The first decision requests it again.
        _log.warning("rheostat: %s were not requested yet: %s", executors, fault)
    detail = ""
    if start.facts.last_size is not None or start.facts.backlog_rows is not None:
        detail = f"initial size {executors}: {start.size.reason}"
        _log.info("rheostat: %s", detail)
    loop.begin(start.guard, now, detail)


def committed_by(internals: Internals, query: Any) -> Offsets | None:
    """Return the offsets that a running query has committed."""
    checkpoint = internals.queries.checkpoint(query)
    return committed_offsets(internals.files, checkpoint) if checkpoint else None


def start_at(executors: int, settings: Settings, now: float) -> Start:
    """Return the start at a size that a supervisor has decided."""
    facts = StartFacts(configured=executors)
    limits = Limits.between(executors, executors)
    return start_of(facts, replace(settings, limits=limits, limits_given=True), now)


def start_of(facts: StartFacts, settings: Settings, now: float) -> Start:
    """Return the initial size and its guard; a default maximum keeps the configured size."""
    limits, slo_s = settings.limits, settings.slo.latency_s
    if not settings.limits_given:
        high = max(limits.max_executors, facts.configured)
        limits = Limits.between(limits.min_executors, high)
    size = initial_size(facts, limits, slo_s)
    guard = Starting(
        executors=size.executors,
        ceiling=limits.max_executors,
        since_s=now,
        slo_s=slo_s,
        capacity_rows_per_s=facts.capacity_rows_per_s,
        reports_lag=settings.kafka is not None,
    )
    return Start(facts=facts, size=size, guard=guard)


class JobNotes:
    """What the next start of an application needs: its id, command and checkpoints."""

    def __init__(self, spark: Any, checkpoint: Callable[[Any], str | None]) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._fixed = {
            "application": application_id(spark),
            "command": command_of(str(spark.sparkContext.appName)),
        }
        self._known: Mapping[str, str | None] = {}

    def __call__(self) -> Memory:
        """Return the data; after the last query has ended, with the last known checkpoints."""
        running = {str(query.runId): query for query in self._spark.streams.active}
        if running and running.keys() != self._known.keys():
            self._known = {run_id: self._checkpoint(query) for run_id, query in running.items()}
        checkpoints = sorted(filter(None, self._known.values()))
        return {**self._fixed, "checkpoints": checkpoints}


def broker_of(kafka: Mapping[str, Any] | None) -> Broker | None:
    """Return the offsets of the configured broker; None without one or its client library."""
    if kafka is None:
        return None
    try:
        from rheostat.kafka.offsets import Offsets as Broker
    except ImportError:
        return None
    return Broker(kafka)


def _backlog_rows(checkpoints: Iterable[str], files: FileSystem, latest: Latest) -> float | None:
    """Return the total known backlog of all queries in rows; None if none is known."""
    committed = (committed_offsets(files, checkpoint) for checkpoint in checkpoints)
    known = [rows for offsets in committed if (rows := _rows(offsets, latest)) is not None]
    return float(sum(known)) if known else None


def _rows(committed: Offsets | None, latest: Latest) -> int | None:
    newest = latest(sorted({topic for topic, _ in committed})) if committed else None
    return lag_rows(newest, committed) if newest and committed else None
