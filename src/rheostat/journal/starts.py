"""Starts and ends of the autoscaler: one line of JSON each, next to the segments of its journal.

They hold what stays the same between two starts, so that a tick's record does not repeat it:
policy, limits, objective, process. A missing end means that the process was killed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rheostat.storage.event_log import EventLog, known_fields
from rheostat.storage.file_system import StorageError
from rheostat.storage.local_files import LocalFileSystem

STARTS_FILE = "starts.jsonl"
STOP_FILE = "STOP"
"""The kill switch in the journal's folder."""

SCHEMA = 1
LIVE, SHADOW, RESTART = "live", "shadow", "restart"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The autoscaler began to decide at ``t_s`` (Unix time).

    ``mode`` is ``live``, ``shadow`` or ``restart``. ``host``, ``pid`` and ``process_started``
    identify its process, as in a lease. ``serve`` is the control endpoint, ``kafka`` the brokers,
    ``price`` the price of a slot-hour. ``launched`` is true if Rheostat started the application, so
    that its first size was not the user's choice. ``limits_given`` is false if the maximum is only
    a default, which a larger application raises. ``floor`` and ``ceiling`` are the schedules.
    ``directed`` is true if the same process continues with settings from the control API.
    """

    t_s: float
    mode: str
    policy: str
    slo_s: float
    min_executors: int
    max_executors: int
    interval_s: float
    limits_given: bool = True
    directed: bool = False
    standby: int = 0
    application: str | None = None
    host: str | None = None
    pid: int | None = None
    process_started: str = ""
    serve: str | None = None
    kafka: str | None = None
    price: float | None = None
    floor: str = ""
    ceiling: str = ""
    launched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The autoscaler ended in an orderly way at ``t_s``."""

    t_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """From ``t_s`` on, the running queries have these checkpoints."""

    t_s: float
    checkpoints: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of the control API at ``t_s``: its action and its author."""

    t_s: float
    action: str
    author: str


Event = Start | End | Checkpoints | Command
_KINDS = {"start": Start, "end": End, "checkpoints": Checkpoints, "command": Command}
_NAMES: dict[type, str] = {kind: name for name, kind in _KINDS.items()}


def append_event(folder: Path, event: Event) -> None:
    """Append an event to a journal; raises StorageError if that is impossible."""
    _log(folder).append(event)


def read_events(folder: Path) -> list[Event]:
    """Return the events of a journal in order; empty if it has no such file."""
    try:
        return [*_log(folder).read()]
    except StorageError:
        return []


def _log(folder: Path) -> EventLog[Event]:
    def to_json(event: Event) -> dict[str, Any]:
        return {"schema": SCHEMA, "event": _NAMES[type(event)], **asdict(event)}

    files = LocalFileSystem(durable=False)
    return EventLog(files, str(folder / STARTS_FILE), to_json, _event_from)


def starts_of(events: Iterable[Event]) -> list[Start]:
    """Return the starts among events."""
    return [event for event in events if isinstance(event, Start)]


def start_at(starts: Sequence[Start], t_s: float) -> Start | None:
    """Return the start in force at a time; None before the first one."""
    return next((start for start in reversed(starts) if start.t_s <= t_s), None)


def _event_from(read: dict[str, Any]) -> Event | None:
    kind = _KINDS[read["event"]]
    if read["schema"] != SCHEMA:
        return None
    values = known_fields(kind, read)
    if kind is Checkpoints:
        values["checkpoints"] = tuple(values["checkpoints"])
    return kind(**values)  # type: ignore[no-any-return]


def checkpoints_of(events: Iterable[Event]) -> Iterator[str]:
    """Yield every checkpoint that queries of this journal have had."""
    for event in events:
        if isinstance(event, Checkpoints):
            yield from event.checkpoints
