"""The public REST interface of a driver's UI: its pages, and the executors in them."""

from __future__ import annotations

import http.client
import json
import re
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

_TIMEOUT_S = 5.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def read_json(url: str, timeout_s: float) -> Any:
    """Return the parsed JSON at a URL, without the user's proxy; None without an answer."""
    try:
        with _OPENER.open(url, timeout=timeout_s) as answer:
            return json.load(answer)
    except (http.client.HTTPException, OSError, ValueError):
        return None


class Pages(Protocol):
    """Returns pages of an application's REST interface."""

    def get(self, page: str) -> Any:
        """Return the parsed JSON of a page; None without an answer or without such a page."""


class Rest:
    """Reads ``/api/v1/applications/ID/...`` of the driver's UI; a page costs about 2 ms of the
    driver's CPU, more while its JVM is young.
    """

    def __init__(self, ui_url: str | None, application: str, timeout_s: float = _TIMEOUT_S) -> None:
        self._url = f"{ui_url}/api/v1/applications/{application}" if ui_url else None
        self._timeout_s = timeout_s

    def get(self, page: str) -> Any:
        """Return the parsed JSON of a page; None without the UI, an answer or the page."""
        # Without a UI no request may wait for its time-out at every tick.
        return read_json(f"{self._url}/{page}", self._timeout_s) if self._url else None


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """An executor that is registered, or was removed."""

    id: str
    slots: int
    active: bool
    task_s: float
    """Task time in seconds since its start; increases when a task ends."""

    peak_memory_bytes: int | None
    registered_s: str
    removed_s: str | None
    remove_reason: str | None = None
    """Spark's reason for the removal."""


class ExecutorsEndpoint:
    """Reads the pages ``executors``, ``allexecutors`` and ``jobs``."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def registered(self) -> list[Executor] | None:
        """Return the executors that are registered now; None without an answer."""
        listed = self._executors("executors")
        return None if listed is None else [executor for executor in listed if executor.active]

    def all(self) -> list[Executor] | None:
        """Return all executors since the start of the application; None without an answer."""
        return self._executors("allexecutors")

    def first_start_s(self) -> float | None:
        """Return the seconds from the registration of the driver, which requests executors in the
        same second, to that of the first executor; None before one is registered.
        """
        since = self._fetch("allexecutors", _since_driver)
        return min(since) if since else None

    def failed_tasks(self) -> int | None:
        """Return the failed tasks of all jobs that Spark remembers, including those lost with their
        executor; None without an answer.
        """
        return self._fetch("jobs", lambda jobs: sum(int(job["numFailedTasks"]) for job in jobs))

    def count(self) -> int | None:
        """Return the number of registered executors; None if it is unknown."""
        return len(self.registered() or ()) or None

    def remove_reasons(self) -> Mapping[str, str | None]:
        """Return Spark's reason for the removal of each executor."""
        return {executor.id: executor.remove_reason for executor in self.all() or []}

    def _executors(self, which: str) -> list[Executor] | None:
        # Spark lists the driver among the executors.
        return self._fetch(
            which, lambda listed: [_executor(r) for r in listed if r["id"] != "driver"]
        )

    def _fetch(self, page: str, read: Callable[[Any], _T]) -> _T | None:
        listed = self._pages.get(page)
        try:
            return None if listed is None else read(listed)
        except (KeyError, TypeError, ValueError):
            return None


def _since_driver(listed: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return for each executor the seconds between the driver's registration and its own."""
    added_s = {read["id"]: unix_s(read["addTime"]) for read in listed}
    driver_s = added_s.pop("driver")
    return [registered_s - driver_s for registered_s in added_s.values() if registered_s > driver_s]


def _executor(read: Mapping[str, Any]) -> Executor:
    peak = read.get("peakMemoryMetrics") or {}
    heap, off_heap = peak.get("JVMHeapMemory"), peak.get("JVMOffHeapMemory")
    return Executor(
        id=read["id"],
        slots=read["maxTasks"],
        active=read["isActive"],
        task_s=read["totalDuration"] / 1000,
        # One part alone would pass for the total, and a memory policy would size by it.
        peak_memory_bytes=heap + off_heap if heap is not None and off_heap is not None else None,
        registered_s=read["addTime"],
        removed_s=read.get("removeTime"),
        remove_reason=read.get("removeReason"),
    )


def unix_s(time: str) -> float:
    """Return the Unix seconds of a time of Spark, which ends with ``GMT`` (REST interface) or ``Z``
    (progress); raises ValueError for another text.
    """
    # Python 3.10 does not parse the suffix Z of UTC.
    return datetime.fromisoformat(re.sub("(GMT|Z)$", "+00:00", time)).timestamp()


def busy_share(
    executors: Sequence[Executor], before: tuple[float, dict[str, float]] | None, now: float
) -> float | None:
    """Return the share of slot time spent in tasks since the last tick; clipped to 1, because Spark
    adds task time when a task ends.
    """
    if before is None or now <= before[0]:
        return None
    # A new executor has no earlier value to compare with.
    known = [executor for executor in executors if executor.id in before[1]]
    slot_s = sum(executor.slots for executor in known) * (now - before[0])
    task_s = sum(executor.task_s - before[1][executor.id] for executor in known)
    return min(1.0, task_s / slot_s) if slot_s else None
