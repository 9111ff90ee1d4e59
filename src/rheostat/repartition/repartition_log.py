"""The journal of a repartition: JSON lines in the checkpoint, each on the disk before the next
step.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from rheostat.errors import BadInput
from rheostat.repartition.state_engine import StateIds, StoreCount, StoreId
from rheostat.spark.sensing.progress import entry_of
from rheostat.spark.sensing.query_shape import SHUFFLE_PARTITIONS
from rheostat.storage.event_log import EventLog
from rheostat.storage.file_system import FileSystem, StorageError
from rheostat.storage.lease import Lease

SCHEMA = 1

OWN_FOLDER = "_rheostat"
"""Rheostat's folder in a checkpoint; Spark ignores folders that it does not know."""

JOURNAL = f"{OWN_FOLDER}/journal.jsonl"
"""The path of the journal, relative to the checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A requested repartition, with everything that its rollback needs.

    ``batch`` is the last committed batch; the repartition's batch is the next one. ``lock`` and
    ``guard`` are entries of the offset log. ``sink`` is the output folder of the query's file sink;
    empty without one.
    """

    batch: int
    partitions_before: int
    partitions: int
    lock: str
    guard: str
    sink: str = ""

    @property
    def new_batch(self) -> int:
        """The number of the repartition's own batch."""
        return self.batch + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedFile:
    """A file of the new state: its name below the checkpoint, size and modification time."""

    name: str
    bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The new state: its files, the counts of both states, and the entry of the commit log."""

    files: tuple[StagedFile, ...]
    before: Mapping[StoreId, StoreCount]
    after: Mapping[StoreId, StoreCount]
    commit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepartitionState:
    """The progress of a checkpoint's newest repartition, and the reason of a rollback."""

    plan: Plan
    phase: str
    written: Written | None = None
    reason: str = ""
    times_s: Mapping[str, float] = field(default_factory=dict)
    """The start of each phase in Unix seconds."""


class RepartitionLog:
    """Stores the state of a checkpoint's repartitions in ``_rheostat/journal.jsonl``."""

    def __init__(self, checkpoint: str, files: FileSystem) -> None:
        self._lines: EventLog[dict[str, Any]] = EventLog(
            files, f"{checkpoint}/{JOURNAL}", to_json=dict, from_json=lambda line: line
        )

    def begin(self, plan: Plan, now: float) -> RepartitionState:
        """Write a plan, and return the state of its repartition."""
        self._lines.append({"phase": "begun", "t_s": now, "schema": SCHEMA, "plan": asdict(plan)})
        return RepartitionState(plan=plan, phase="begun", times_s={"begun": now})

    def note(
        self, phase: str, now: float, written: Written | None = None, reason: str = ""
    ) -> None:
        """Record that a phase has begun."""
        line: dict[str, Any] = {"phase": phase, "t_s": now}
        if reason:
            line["reason"] = reason
        if written is not None:
            line["written"] = _written_json(written)
        self._lines.append(line)

    def read(self) -> RepartitionState | None:
        """Return the state of the newest repartition; None if there is none.

        Raises BadInput for an event that this version of Rheostat cannot read.
        """
        state: RepartitionState | None = None
        for line in self._lines.read():
            try:
                state = _after(state, line)
            except (ValueError, TypeError, KeyError):
                raise BadInput(
                    f"{JOURNAL} has a line that this Rheostat cannot read ({str(line)[:60]}): use"
                    " the version that started the repartition"
                ) from None
        return state


def _after(state: RepartitionState | None, line: dict[str, Any]) -> RepartitionState | None:
    phase, now = str(line["phase"]), float(line["t_s"])
    if "plan" in line:
        return RepartitionState(plan=Plan(**line["plan"]), phase=phase, times_s={phase: now})
    if state is None:
        return None
    return RepartitionState(
        plan=state.plan,
        phase=phase,
        written=_read(line["written"]) if "written" in line else state.written,
        reason=line.get("reason", state.reason),
        times_s={**state.times_s, phase: now},
    )


def _written_json(written: Written) -> dict[str, Any]:
    return {
        "files": [[file.name, file.bytes, file.mtime_ns] for file in written.files],
        "before": _counts(written.before),
        "after": _counts(written.after),
        "commit": written.commit,
    }


def _read(parsed: dict[str, Any]) -> Written:
    return Written(
        files=tuple(
            StagedFile(name=name, bytes=size, mtime_ns=mtime)
            for name, size, mtime in parsed["files"]
        ),
        before=_read_counts(parsed["before"]),
        after=_read_counts(parsed["after"]),
        commit=parsed["commit"],
    )


def _counts(counts: Mapping[StoreId, StoreCount]) -> list[dict[str, Any]]:
    return [{**asdict(store), **asdict(count)} for store, count in sorted(counts.items())]


def _read_counts(counts: list[dict[str, Any]]) -> dict[StoreId, StoreCount]:
    return {
        StoreId(count.pop("operator"), count.pop("name")): StoreCount(**count)
        for count in map(dict, counts)
    }


BEAT_S = 10.0
"""Seconds between two renewals of the lease."""

STALE_S = 120.0
"""Age in seconds from which a lease of another computer is abandoned: twelve missed renewals."""


def lease_path(checkpoint: str) -> str:
    """Return the path of the lease of a checkpoint."""
    return f"{checkpoint}/{OWN_FOLDER}/lease.json"


@contextmanager
def leased(checkpoint: str, files: FileSystem) -> Iterator[None]:
    """Hold the lease of a checkpoint; raises BadInput if another process holds it."""
    lease = Lease(files, lease_path(checkpoint), STALE_S)
    owner = lease.take()
    if owner is not None:
        raise BadInput(
            f"{checkpoint} is being repartitioned by another (process {owner.pid} on"
            f" {owner.host}): wait until it has ended"
        )
    ended = threading.Event()
    beat = threading.Thread(target=_beat, args=(lease, ended), daemon=True, name="rheostat-lease")
    beat.start()
    try:
        yield
    finally:
        ended.set()
        beat.join()
        lease.release()


def _beat(lease: Lease, ended: threading.Event) -> None:
    while not ended.wait(BEAT_S):
        try:
            lease.renew()
        except StorageError:
            return


def entry_partitions(files: FileSystem, name: str) -> int:
    """Return the state partitions in an offset log's entry; raises BadInput if unreadable."""
    try:
        settings = entry_of(name, files.read_text(name) or "")[1]
        return int(settings[SHUFFLE_PARTITIONS])
    except (BadInput, ValueError, KeyError):
        raise BadInput(
            f"{name} is not an entry of an offset log: restore it from a backup"
        ) from None


# Both entries of a repartition's batch are copies of the last committed batch's entries. Versions 1
# and 2 of the offset log have the configuration in the second line.


def offset_entry(last: str, partitions: int) -> str:
    """Return the offset log's entry of the last batch with another number of state partitions."""
    version, metadata, *offsets = last.split("\n")
    changed: dict[str, Any] = json.loads(metadata)
    changed["conf"] = {**changed["conf"], SHUFFLE_PARTITIONS: str(partitions)}
    return "\n".join((version, _json(changed), *offsets))


def commit_entry(last: str, ids: StateIds) -> str:
    """Return the commit log's entry of the last batch, with the IDs of the new state's files if the
    checkpoint's format has them.
    """
    if not ids:
        return last
    version, _, body = last.partition("\n")
    changed: dict[str, Any] = {**json.loads(body or "{}"), "stateUniqueIds": ids}
    return f"{version}\n{_json(changed)}"


def _json(value: dict[str, Any]) -> str:
    """Return JSON as Spark writes it: without blanks, and with non-ASCII letters unescaped."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
