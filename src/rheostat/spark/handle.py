"""The handle of a running autoscaler."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from rheostat.errors import BadInput
from rheostat.guards import Guard
from rheostat.journal.explanation import explain
from rheostat.journal.frames import RecordedJournal
from rheostat.journal.starts import STARTS_FILE, End, Event, Start
from rheostat.loop import Loop
from rheostat.model import Capabilities, Record
from rheostat.ports import Policy
from rheostat.spark.journaling.journals import SessionJournal

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_log = logging.getLogger("rheostat")


class _End(threading.Event):
    """Set by ``stop``, or when the application has ended, which is checked at every tick, including
    failed ones. ``poke`` ends a wait, so that the next tick is immediate.
    """

    def __init__(self, ended: Callable[[], bool]) -> None:
        super().__init__()
        self._ended = ended
        self._poked = threading.Event()

    def is_set(self) -> bool:
        """Return whether the loop shall end."""
        return super().is_set() or self._ended()

    def set(self) -> None:
        """End the loop and the current wait."""
        super().set()
        self._poked.set()

    def poke(self) -> None:
        """End the current wait, or the next one."""
        self._poked.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until poked or ended, at most ``timeout`` seconds."""
        if not super().is_set():
            self._poked.wait(timeout)
            self._poked.clear()
        return self.is_set()


class Handle:
    """A running autoscaler: ends with the application or by ``stop()``. ``halt()``, or a file
    ``STOP`` next to the journal, halts it until ``resume()``, or until the file is removed.

    ``last`` is the newest record. The tasks of ``journaling`` run as long as the loop; ``ended``
    returns whether the application has ended; ``on_start`` is called with the time (Unix seconds)
    once the actuator has started; ``summary`` describes the settings.
    """

    def __init__(
        self,
        loop: Loop,
        journaling: SessionJournal,
        *,
        capabilities: Capabilities,
        ended: Callable[[], bool],
        on_start: Callable[[float], None] | None = None,
        summary: str = "",
    ) -> None:
        self.capabilities = capabilities
        self.last: Record | None = None
        self.start_event: Start | None = None
        self._loop = loop
        self._journaling, self._journal = journaling, journaling.journal
        self._ended = ended
        self._on_start = on_start
        self._summary = summary
        self._stop = _End(ended)
        self._watchers: list[Callable[[Record], None]] = []
        self._poll_watchers: list[Callable[[], None]] = []
        self._at_end: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None

    @property
    def journal(self) -> Path:
        """The folder of the journal."""
        return self._journal.folder

    @property
    def stop_file(self) -> str:
        """The name of the kill switch, a file in the journal's folder."""
        return self._journal.stop_file.name

    @property
    def halts_by_checkpoint(self) -> bool:
        """Whether ``rheostat halt CHECKPOINT`` reaches it."""
        return self._journal.other_switch is not None

    @property
    def running(self) -> bool:
        """Whether the loop still runs."""
        return self._thread is not None and self._thread.is_alive()

    def watch(self, watcher: Callable[[Record], None]) -> None:
        """Call ``watcher`` with every record from now on, in the loop's thread.

        Raises BadInput if ``watcher`` cannot be called.
        """
        if not callable(watcher):
            raise BadInput(
                f"watch needs a function of a record, such as handle.watch(print), but it got"
                f" {watcher!r:.60}"
            )
        self._watchers.append(watcher)

    def watch_polls(self, watcher: Callable[[], None]) -> None:
        """Call ``watcher`` every few seconds in the thread that acts between the decisions."""
        self._poll_watchers.append(watcher)

    @property
    def recorded(self) -> RecordedJournal:
        """The contents of the journal so far, as data frames and as a figure."""
        return RecordedJournal(self.journal)

    def history(self) -> DataFrame:
        """Return one row per tick; see ``RecordedJournal.history``."""
        return self.recorded.history()

    def decisions(self) -> DataFrame:
        """Return one row per change or reason; see ``RecordedJournal.decisions``."""
        return self.recorded.decisions()

    def plot(self) -> Figure:
        """Return load, executors, latency and backlog over time; see ``RecordedJournal.plot``."""
        return self.recorded.plot()

    def __repr__(self) -> str:
        ended = "stopped" if self._thread else "not started"
        state = "running" if self.running else ended
        kind = "autoscaler" if self.capabilities.can_scale else "advisor"
        parts = (state, self._summary, str(self.last or "no decision yet"), str(self.journal))
        return f"<rheostat {kind}: {'; '.join(filter(None, parts))}>"

    def _repr_html_(self) -> str:
        """Return a card for notebooks."""
        cannot = [f"cannot: {line}" for line in self.capabilities.cannot]
        lines = [*(explain(self.last) if self.last else ()), *cannot]
        body = "".join(f"<div>{escape(line)}</div>" for line in lines)
        return (
            '<div style="border:1px solid #ccc;border-radius:6px;padding:.6em">'
            f"<b>{escape(repr(self)[1:-1])}</b>{body}</div>"
        )

    def direct(self, policy: Policy, guards: tuple[Guard, ...]) -> None:
        """Decide with this policy and these guards from now on; the next tick is immediate."""
        self._loop.direct(policy, guards)
        self._summary = f"policy {type(policy).__name__}, set by the control API"
        self._stop.poke()

    def keep_start(self, start: Start) -> None:
        """Record in the journal how this autoscaler decides from now on, if that has changed."""
        if self.start_event is None or replace(start, t_s=self.start_event.t_s) != self.start_event:
            self.start_event = start
            self.note(start)

    def note(self, event: Event) -> None:
        """Record an event in the journal; a failure is logged and has no other effect."""
        try:
            self._journal.note(event)
        except OSError as fault:
            _log.warning("rheostat: %s: %s", STARTS_FILE, fault)

    @property
    def halted(self) -> str:
        """The reason why decisions are halted; empty if they are not."""
        return self._loop.halted()

    def halt(self) -> None:
        """Stop deciding until ``resume``: the application keeps its size, and the queries keep
        running. A new start with the same journal is halted as well.
        """
        self._journal.stop_file.touch()
        self._stop.poke()

    def resume(self) -> None:
        """Decide again; a halt from elsewhere must be resumed there (see ``halted``)."""
        self._journal.stop_file.unlink(missing_ok=True)
        self._stop.poke()

    def pause(self, cause: str) -> None:
        """Halt for a ``cause`` that only this process knows; an empty one resumes."""
        self._loop.paused = cause
        self._stop.poke()

    def at_end(self, call: Callable[[], None]) -> None:
        """Call this after the last decision, in the loop's thread."""
        self._at_end.append(call)

    def start(self, interval_s: float) -> None:
        """Start the loop's thread; it never keeps the application from ending."""
        self._journaling.start()
        now = time.time()
        self._loop.start(now, self._after_poll)
        if self._on_start:
            self._on_start(now)
        self._thread = threading.Thread(
            target=self._run, args=(interval_s,), name="rheostat", daemon=True
        )
        self._thread.start()
        atexit.register(self.stop)

    def _log_halts(self, record: Record) -> None:
        before = self.last is not None and self.last.rescaling.phase == "halted"
        if (record.rescaling.phase == "halted") != before:
            _log.warning("rheostat: %s", record.rescaling.detail)

    def _run(self, interval_s: float) -> None:
        self._loop.run(interval_s, self._stop, self._after_tick)
        self.note(End(t_s=time.time()))
        self._close_all()

    def _close_all(self) -> None:
        for close in (self._loop.close, self._journaling.close, *self._at_end):
            try:
                close()
            except Exception as fault:
                _log.debug("rheostat: the application has ended: %s", fault)

    def discard(self) -> None:
        """Close the resources of a loop that could not start."""
        self.stop()
        self._close_all()

    def stop(self) -> None:
        """Stop deciding; the application keeps its size.

        Returns when the current tick has ended.
        """
        self._stop.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(timeout=10)
        self._journal.close()
        atexit.unregister(self.stop)

    def _after_tick(self, record: Record) -> None:
        self._log_halts(record)
        self.last = record
        if self._ended():
            return
        for watcher in self._watchers:
            watcher(record)

    def _after_poll(self) -> None:
        for watcher in self._poll_watchers:
            watcher()
