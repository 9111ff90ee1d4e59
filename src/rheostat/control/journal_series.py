"""The series of one journal in the resolution of a chart: recent ticks, or all if nothing else
exists, and older minutes and quarters of an hour from the files next to the journal.
"""

from __future__ import annotations

import math
import threading
from pathlib import Path

from rheostat.control.series import Bucket, Fold
from rheostat.control.series_file import COARSE_FILE, COARSE_S, SERIES_FILE, WIDTH_S, SeriesReader
from rheostat.journal.reading import Place, last_record, place_of, records_from, records_until
from rheostat.journal.starts import Start, read_events, starts_of

RECENT_S = 3 * 3600.0
"""Seconds up to which single ticks are shown; older ones are shown by the minute."""

_LEAD_S = 60.0
"""Seconds of ticks to read before a range: detecting a change needs the previous tick."""


class JournalSeries:
    """Reads the buckets of a journal between two times, from any thread; reads only what that
    needs, and each record once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._coarse = SeriesReader(folder / COARSE_FILE)
        self._minutes = SeriesReader(folder / SERIES_FILE)
        self._unindexed: list[Bucket] | None = None
        self._unindexed_until_s = 0.0
        self._ticks: list[Bucket] = []
        self._ticks_from_s = math.inf
        self._fold = Fold(0.0, ())
        self._place = Place()

    def extent(self) -> tuple[float | None, float | None]:
        """Return the times of the first and the last record."""
        first = next((record for _, record in records_from(self._folder, Place())), None)
        last = last_record(self._folder)
        times = [first.t_s if first else None, self._coarse.first_s(), self._minutes.first_s()]
        last_s = last.t_s if last else None
        return min((t_s for t_s in (*times, last_s) if t_s is not None), default=None), last_s

    def between(
        self, from_s: float | None, to_s: float | None, width_s: float = 0.0
    ) -> tuple[list[Bucket], list[Start]]:
        """Return the buckets between two times (None means the first or the last) and the starts of
        the job; buckets may be as wide as ``width_s``. What has a later time than the last record
        was recorded before the clock was set back, and is left out.
        """
        begin_s = -math.inf if from_s is None else from_s
        with self._lock:
            starts = starts_of(read_events(self._folder))
            last = last_record(self._folder)
            if last is None:
                return [], starts
            self._fold.starts = starts
            end_s = min(to_s or math.inf, last.t_s)
            recent_s, buckets = last.t_s - RECENT_S, list[Bucket]()
            if begin_s < recent_s:
                buckets = self._older(begin_s, recent_s, width_s, starts)
                begin_s = _after(buckets) if buckets else recent_s
            if begin_s <= end_s:
                buckets += self._ticks_since(begin_s)
            inside = [bucket for bucket in buckets if bucket.t_s <= end_s]
            return sorted(inside, key=lambda bucket: bucket.t_s), starts

    def _older(
        self, begin_s: float, recent_s: float, width_s: float, starts: list[Start]
    ) -> list[Bucket]:
        """Return buckets from the files, up to ``recent_s`` if ``width_s`` needs single ticks;
        buckets from before the first line of the files come from the records.
        """
        first_s = self._minutes.first_s()
        buckets = list[Bucket]()
        if begin_s < (recent_s if first_s is None else first_s):
            until_s = recent_s if first_s is None else first_s
            buckets = [b for b in self._records_until(until_s, starts) if b.end_s >= begin_s]
        if first_s is not None:
            for reader, level_s in ((self._coarse, COARSE_S), (self._minutes, WIDTH_S)):
                if width_s >= level_s or reader is self._minutes:
                    buckets += reader.since(_after(buckets) if buckets else begin_s - level_s)
        if width_s < WIDTH_S:
            buckets = [bucket for bucket in buckets if bucket.end_s < recent_s]
        return buckets

    def _records_until(self, until_s: float, starts: list[Start]) -> list[Bucket]:
        if self._unindexed is None or until_s > self._unindexed_until_s + RECENT_S:
            fold = Fold(WIDTH_S, starts)
            read = [fold.add(record) for record in records_until(self._folder, until_s)]
            self._unindexed = [b for b in (*read, fold.rest()) if b is not None]
            self._unindexed_until_s = until_s
        return self._unindexed

    def _ticks_since(self, since_s: float) -> list[Bucket]:
        """Return single ticks since ``since_s``, including those added to the journal since."""
        if not self._ticks_from_s <= since_s <= self._ticks_from_s + RECENT_S:
            self._ticks, self._ticks_from_s = [], since_s
            self._fold = Fold(0.0, self._fold.starts)
            self._place = place_of(self._folder, since_s - _LEAD_S)
        for place, record in records_from(self._folder, self._place):
            self._place = place
            self._ticks += filter(None, (self._fold.add(record), self._fold.rest()))
        return [bucket for bucket in self._ticks if bucket.t_s >= since_s]


def _after(buckets: list[Bucket]) -> float:
    return math.nextafter(buckets[-1].end_s, math.inf)
