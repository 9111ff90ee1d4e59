"""The jobs that a page shows: journals, folders of journals, and drivers that serve their own."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from rheostat.control.journal_job import JournalJob
from rheostat.errors import BadInput
from rheostat.journal.known_journals import is_journal
from rheostat.journal.starts import Start

ENDPOINT = re.compile(r"(?:https?://)?([\w.-]+|\[[0-9a-f:]+\]):(\d{1,5})/?", re.IGNORECASE)
_SCAN_S, _TIMEOUT_S = 5.0, 5.0


class Job(Protocol):
    """What a page asks about one job."""

    name: str

    def version(self) -> tuple[Any, ...]:
        """Return what changes with every record."""
        ...

    def overview(self) -> Mapping[str, Any]:
        """Return status, health and money."""
        ...

    def series(self, from_s: float | None, to_s: float | None, points: int) -> Mapping[str, Any]:
        """Return the columns of the charts."""
        ...

    def decisions(self, from_s: float | None, to_s: float | None) -> list[dict[str, Any]]:
        """Return the decisions, the newest first."""
        ...

    def record(self, at_s: float) -> Mapping[str, Any] | None:
        """Return the decision at a moment."""
        ...


class DriverJob:
    """A job whose driver serves its own page; every answer is its own."""

    def __init__(self, address: str, token: str | None = None) -> None:
        self.name = address
        self._url = address if "://" in address else f"http://{address}"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def version(self) -> tuple[Any, ...]:
        """Return what changes every two seconds."""
        return (int(time.time() // 2),)

    def overview(self) -> Mapping[str, Any]:
        """Return what the driver answers; raises OSError where it does not."""
        return {**self._get("overview"), "endpoint": self.name}

    def series(self, from_s: float | None, to_s: float | None, points: int) -> Mapping[str, Any]:
        """Return what the driver answers."""
        return dict(self._get("series", {"from": from_s, "to": to_s, "points": points}))

    def decisions(self, from_s: float | None, to_s: float | None) -> list[dict[str, Any]]:
        """Return what the driver answers."""
        return list(self._get("decisions", {"from": from_s, "to": to_s}))

    def record(self, at_s: float) -> Mapping[str, Any] | None:
        """Return what the driver answers."""
        answer = self._get("record", {"at": at_s})
        return dict(answer) if answer else None

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        known = {name: value for name, value in (query or {}).items() if value is not None}
        url = f"{self._url.rstrip('/')}/api/{path}?{urlencode(known)}"
        with urlopen(Request(url, headers=self._headers), timeout=_TIMEOUT_S) as answer:  # noqa: S310
            return json.load(answer)


class Jobs:
    """The jobs of several sources, by an id that stays the same; folders are scanned anew."""

    def __init__(self, scan: Callable[[], Iterable[Job]]) -> None:
        self._scan = scan
        self._jobs: dict[str, Job] = {}
        self._rows: dict[str, tuple[Any, dict[str, Any]]] = {}
        self._scanned_s = float("-inf")

    def all(self) -> Mapping[str, Job]:
        """Return the jobs by id; a source is scanned at most every five seconds."""
        if time.monotonic() - self._scanned_s > _SCAN_S:
            jobs = {_id(job): job for job in self._scan()}
            self._jobs = {key: self._jobs.get(key, job) for key, job in jobs.items()}
            self._scanned_s = time.monotonic()
        return self._jobs

    def get(self, key: str | None) -> Job:
        """Return a job; the only one without a key. Raises BadInput for an unknown one."""
        jobs = self.all()
        if key is None and len(jobs) == 1:
            return next(iter(jobs.values()))
        if key is None:
            raise BadInput(f"there are {len(jobs)} jobs here; name one of them")
        if key not in jobs:
            raise BadInput(f"unknown job {key!r}; the list of jobs has their ids")
        return jobs[key]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each job; unchanged ones are not read again."""
        rows = []
        for key, job in self.all().items():
            version = (job.version(), int(time.time() // 30))
            if key not in self._rows or self._rows[key][0] != version:
                self._rows[key] = version, _row(key, job)
            rows.append(self._rows[key][1])
        return rows


def jobs_of(
    places: Iterable[str], alive: Callable[[Start], bool | None], token: str | None = None
) -> Jobs:
    """Return the jobs of journals, folders of journals and ``HOST:PORT``; raises BadInput for
    anything else.
    """
    given = list(places)
    for place in given:
        if not Path(place).is_dir() and not ENDPOINT.fullmatch(place):
            raise BadInput(f"{place} is no journal, no folder of journals, and no HOST:PORT")

    def scan() -> Iterable[Job]:
        for place in given:
            if Path(place).is_dir():
                yield from (JournalJob(folder, alive, name) for name, folder in _journals(place))
            else:
                yield DriverJob(place, token)

    return Jobs(scan)


def _journals(place: str) -> Iterable[tuple[str, Path]]:
    """Yield the journals of a folder: itself, or those one or two levels below."""
    root = Path(place)
    if is_journal(root):
        yield root.resolve().name, root
        return
    for folder in sorted(filter(is_journal, (*root.glob("*/"), *root.glob("*/*/")))):
        yield str(folder.relative_to(root)), folder


def _row(key: str, job: Job) -> dict[str, Any]:
    try:
        overview = job.overview()
    except (OSError, ValueError, KeyError, TypeError, BadInput) as fault:
        sentence = f"It cannot be read: {fault}"
        return {"id": key, "name": job.name, "word": "Blind", "sentence": sentence}
    start, week = overview["start"] or {}, overview["week"]
    return {
        "id": key,
        "name": overview["name"],
        "word": overview["health"]["word"],
        "sentence": overview["health"]["sentence"],
        "action": overview["health"]["action"],
        "state": overview["state"],
        "executors": overview["executors"],
        "target": overview["target"],
        "ceiling": start.get("max_executors"),
        "rate": overview["input_rows_per_s"],
        "lag_rows": overview["lag_rows"],
        "latency_s": overview["latency_s"],
        "slo_s": start.get("slo_s"),
        "late_share": week["today"]["max"]["late_share"],
        "saved_share": week["week"]["max"]["saved_share"],
    }


def _id(job: Job) -> str:
    place = str(job.folder.resolve()) if isinstance(job, JournalJob) else job.name
    return hashlib.sha256(place.encode()).hexdigest()[:12]
