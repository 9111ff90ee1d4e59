"""The jobs of a page: journals, folders of journals, and drivers that serve their own page."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlencode

from rheostat.control.driver_call import ENDPOINT, call_driver
from rheostat.control.journal_job import JournalJob
from rheostat.errors import BadInput
from rheostat.journal.known_journals import is_journal
from rheostat.journal.starts import Start
from rheostat.storage.file_system import FileStatus, FileSystem

_SCAN_S = 5.0
UNREADABLE = (OSError, ValueError, KeyError, TypeError)
"""What reading a damaged journal, or a driver that does not answer, raises."""
_ROW_S, _LONGEST_ROW_S, _READING_SHARE = 30.0, 300.0, 0.1
"""A row without new records is read again after ``_ROW_S`` seconds, or up to ``_LONGEST_ROW_S`` if
reading all rows would otherwise take more than ``_READING_SHARE`` of the time."""


class Job(Protocol):
    """What a page requests from one job."""

    name: str
    address: str
    """Where the job is: a folder, or HOST:PORT."""

    def version(self) -> tuple[Any, ...]:
        """Return a value that changes with every record."""

    def overview(self) -> Mapping[str, Any]:
        """Return status, health and cost."""

    def series(self, from_s: float | None, to_s: float | None, points: int) -> Mapping[str, Any]:
        """Return the columns of the charts."""

    def decisions(self, from_s: float | None, to_s: float | None) -> list[dict[str, Any]]:
        """Return the decisions, the newest first."""

    def record(self, at_s: float) -> Mapping[str, Any] | None:
        """Return the decision at ``at_s`` (Unix seconds)."""


Scan = Callable[[], Iterable[Job]]
"""Returns the current jobs of a place."""


class DriverJob:
    """A job whose driver serves its own page and provides all answers."""

    def __init__(self, address: str, token: str | None = None, name: str = "") -> None:
        self.address, self.name = address, name or address
        self._token = token

    def version(self) -> tuple[Any, ...]:
        """Return a value that changes every two seconds."""
        return (int(time.time() // 2),)

    def overview(self) -> Mapping[str, Any]:
        """Return the driver's overview; raises OSError if it does not answer."""
        return {**self._get("overview"), "endpoint": self.address}

    def series(self, from_s: float | None, to_s: float | None, points: int) -> Mapping[str, Any]:
        """Return the driver's columns of the charts."""
        return dict(self._get("series", {"from": from_s, "to": to_s, "points": points}))

    def decisions(self, from_s: float | None, to_s: float | None) -> list[dict[str, Any]]:
        """Return the driver's decisions, the newest first."""
        return list(self._get("decisions", {"from": from_s, "to": to_s}))

    def record(self, at_s: float) -> Mapping[str, Any] | None:
        """Return the driver's decision at ``at_s`` (Unix seconds)."""
        answer = self._get("record", {"at": at_s})
        return dict(answer) if answer else None

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        known = {name: value for name, value in (query or {}).items() if value is not None}
        return call_driver(self.address, f"api/{path}?{urlencode(known)}", self._token)


class AbsentJob(DriverJob):
    """A known job that does not run; ``why`` states that in one line."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} (absent)", name=name)
        self._why = why

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        raise OSError(self._why)


class Jobs:
    """The jobs of several sources by a stable ID; folders are scanned again."""

    def __init__(self, scan: Callable[[], Iterable[Job]]) -> None:
        self._scan = scan
        self._jobs: dict[str, Job] = {}
        self._rows: dict[str, tuple[Any, float, dict[str, Any]]] = {}
        self._row_s = _ROW_S
        self._scanned_s = float("-inf")

    def all(self) -> Mapping[str, Job]:
        """Return the jobs by ID; a source is scanned at most every five seconds."""
        if time.monotonic() - self._scanned_s > _SCAN_S:
            jobs = {_id(job.address): job for job in self._scan()}
            self._jobs = {key: self._jobs.get(key, job) for key, job in jobs.items()}
            self._scanned_s = time.monotonic()
        return self._jobs

    def get(self, key: str | None) -> Job:
        """Return a job, without a key the only one; raises BadInput for an unknown one."""
        jobs = self.all()
        if key is None and len(jobs) == 1:
            return next(iter(jobs.values()))
        if key is None:
            raise BadInput(f"there are {len(jobs)} jobs here; name one of them")
        if key not in jobs:
            raise BadInput(f"unknown job {key!r}; the list of jobs has their ids")
        return jobs[key]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each job; unchanged jobs are not read again."""
        rows, begin_s = [], time.monotonic()
        for key, job in self.all().items():
            try:
                version = job.version()
            except OSError:
                version = None  # its row states why it cannot be read
            before, until_s, row = self._rows.get(key, (None, 0.0, {}))
            if version is None or before != version or begin_s > until_s:
                row = _row(key, job)
                self._rows[key] = version, time.monotonic() + self._row_s, row
            rows.append(row)
        most_s = min(_LONGEST_ROW_S, (time.monotonic() - begin_s) / _READING_SHARE)
        self._row_s = max(self._row_s, most_s)
        return rows


def jobs_of(
    places: Iterable[str],
    alive: Callable[[Start], bool | None],
    token: str | None = None,
    elsewhere: Callable[[str], Scan | None] = lambda _: None,
) -> Jobs:
    """Return the jobs of journals, folders of journals, ``HOST:PORT``, and of the places that
    ``elsewhere`` supports; raises BadInput for other places.
    """
    scans = [_scan_of(place, alive, token, elsewhere) for place in places]
    return Jobs(lambda: (job for scan in scans for job in scan()))


def _scan_of(
    place: str,
    alive: Callable[[Start], bool | None],
    token: str | None,
    elsewhere: Callable[[str], Scan | None],
) -> Scan:
    if Path(place).is_dir():
        return lambda: journal_jobs(Path(place), alive)
    if (scan := elsewhere(place)) is not None:
        return scan
    if ENDPOINT.fullmatch(place):
        return lambda: [DriverJob(place, token)]
    raise BadInput(
        f"{place} is not a journal, a folder of journals or HOST:PORT; remote ones are"
        " hdfs://HOST/FOLDER, s3a://BUCKET/FOLDER and k8s://NAMESPACE"
    )


def journal_jobs(
    root: Path, alive: Callable[[Start], bool | None], refresh: Callable[[], object] = lambda: None
) -> Iterable[Job]:
    """Return the jobs of a folder: of itself, or of the journals one or two levels below;
    ``refresh`` updates the folder before a job is read.
    """
    return [JournalJob(folder, alive, name, refresh=refresh) for name, folder in _journals(root)]


def _journals(root: Path) -> Iterable[tuple[str, Path]]:
    if is_journal(root):
        yield root.resolve().name, root
        return
    for folder in sorted(filter(is_journal, (*root.glob("*/"), *root.glob("*/*/")))):
        yield str(folder.relative_to(root)), folder


def _row(key: str, job: Job) -> dict[str, Any]:
    try:
        overview = job.overview()
    except (*UNREADABLE, BadInput) as fault:
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


def _id(address: str) -> str:
    return hashlib.sha256(address.encode()).hexdigest()[:12]


_LOOK_S = 5.0


class MirroredFolder:
    """Keeps ``folder`` as a copy of ``place`` on another file system, which is never written.

    Unchanged files are not read again, except the newest segment: on HDFS, the reported size of an
    open file lags behind its content.
    """

    def __init__(
        self,
        files: FileSystem,
        place: str,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files, self._place, self._folder = files, place.rstrip("/"), folder
        self._copied: dict[str, FileStatus] = {}
        self._looked_s = float("-inf")
        self._clock = clock
        self._lock = threading.Lock()

    def refresh(self) -> None:
        """Copy changed files, at most every five seconds, from any thread; raises StorageError."""
        with self._lock:
            if self._clock() - self._looked_s >= _LOOK_S:
                self._look()

    def _look(self) -> None:
        files = self._files.files_below(self._place)
        names = [name for name in files if name.endswith((".json", ".jsonl", "STOP"))]
        open_ones = {str(Path(name).parent): name for name in sorted(names) if "segment-" in name}
        for name in names:
            if self._copied.get(name) != files[name] or name in open_ones.values():
                self._copy(name, files[name])
        for name in self._copied.keys() - files.keys():
            (self._folder / name).unlink(missing_ok=True)
            del self._copied[name]
        self._looked_s = self._clock()

    def _copy(self, name: str, status: FileStatus) -> None:
        text = self._files.read_text(f"{self._place}/{name}")
        if text is None:
            return  # retention has deleted it in the meantime
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self._copied[name] = status
