"""Renders the live view of a record, purely from the given state."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from rheostat.journal.events import allowances, reason_of
from rheostat.model import Record
from rheostat_lab.report.result_text import UNKNOWN

_BLOCKS = "▁▂▃▄▅▆▇█"
_DECISIONS = 5


@dataclass(frozen=True, slots=True)
class Decided:
    """An observed change of the target, at ``elapsed_s`` seconds of the run."""

    elapsed_s: float
    before: int
    after: int
    reason: str


@dataclass(slots=True)
class Dashboard:
    """The state of the view; renders itself to the given width and height."""

    title: str
    max_executors: int
    slo_s: float
    record: Record | None = None
    elapsed_s: float = 0.0
    total_s: float = 0.0
    target: int | None = None
    rates: deque[float] = field(default_factory=lambda: deque(maxlen=240))
    decided: deque[Decided] = field(default_factory=lambda: deque(maxlen=_DECISIONS))
    note: str = ""

    def begin(self) -> None:
        """Reset the view for the next run."""
        self.record = self.target = None
        self.rates.clear()
        self.decided.clear()

    def see(self, record: Record, elapsed_s: float, total_s: float) -> Decided | None:
        """Add a record; return the decision if the target changed."""
        self.record, self.elapsed_s, self.total_s = record, elapsed_s, total_s
        observation = record.observation
        if observation and observation.input_rows_per_s is not None:
            self.rates.append(observation.input_rows_per_s)
        if record.target is None:
            return None
        # The first decision is compared with the current size.
        before = (
            self.target if self.target is not None else observation.size if observation else None
        )
        self.target = record.target
        if before is None or before == record.target:
            return None
        self.decided.append(Decided(elapsed_s, before, record.target, reason_of(record)))
        return self.decided[-1]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the numbers first; lines that do not fit below them are omitted."""
        width, height = options.max_width, options.height or options.size.height
        lines = [
            self._head(width),
            Text(""),
            *self._numbers(width),
            Text(""),
            *self._decisions(width),
        ]
        if self.note:
            lines += [Text(""), Text(self.note, style="yellow")]
        # One line less than the screen, because a cursor below the last line would scroll it.
        for line in lines[: max(1, height - 1)]:
            line.truncate(width, overflow="ellipsis")
            yield line

    def _head(self, width: int) -> Text:
        share = min(1.0, self.elapsed_s / self.total_s) if self.total_s else 0.0
        done = f"{clock(self.elapsed_s)} of {clock(self.total_s)}"
        room = max(0, min(24, width - len(self.title) - len(done) - 6))
        return Text.assemble(
            (self.title, "bold"), "  ", bar(share, 1.0, room, "cyan"), "  ", (done, "dim")
        )

    def _numbers(self, width: int) -> list[Text]:
        observation = self.record.observation if self.record else None
        if observation is None:
            return [
                Text(
                    (
                        self.record.rescaling.detail
                        if self.record
                        else "waiting for the first decision"
                    ),
                    style="dim",
                )
            ]
        room = max(8, min(40, width - 44))
        late = (
            "red"
            if observation.latency_s is not None and observation.latency_s > self.slo_s
            else ""
        )
        running = observation.in_flight
        ago = f"running for {running.elapsed_s:.1f} s" if running else ""
        return [
            _line(
                "load",
                rows(observation.input_rows_per_s, "/s"),
                Text(sparkline(self.rates, room), style="cyan"),
                f" out {rows(observation.processed_rows_per_s, '/s')}",
            ),
            _line(
                "lag", rows(observation.lag_rows), Text(""), f"oldest row: {_s(observation.lag_s)}"
            ),
            _line(
                "latency",
                _s(observation.latency_s),
                bar(observation.latency_s or 0, self.slo_s, room, late or "green"),
                f" objective {self.slo_s:g} s",
                late,
            ),
            _line(
                "executors",
                self._executors(observation.executors),
                self._slots(observation.executors or 0),
                self._phase(),
            ),
            _line(
                "batch",
                _s(observation.batch_s),
                Text(""),
                "  ".join(part for part in (f"{rows(observation.batch_rows)} rows", ago) if part),
            ),
        ]

    def _executors(self, now: int | None) -> str:
        wanted = self.target
        count = UNKNOWN if now is None else str(now)
        return count if wanted is None or wanted == now else f"{count} → {wanted}"

    def _slots(self, now: int) -> Text:
        """Return one mark per executor: registered, starting, being removed, or free room."""
        wanted = self.target if self.target is not None else now
        kept, coming, leaving = min(now, wanted), max(0, wanted - now), max(0, now - wanted)
        room = max(0, self.max_executors - max(now, wanted))
        return Text.assemble(
            ("■" * kept, "green"),
            ("□" * coming, "green"),
            ("■" * leaving, "yellow"),
            ("·" * room, "dim"),
        )

    def _phase(self) -> str:
        phase = self.record.rescaling.phase if self.record else ""
        return "" if phase == "steady" else f" {phase}"

    def _decisions(self, width: int) -> list[Text]:
        """Return what the last tick wanted, allowed and decided, then the last changes."""
        last = self._now(self.record) if self.record and self.record.raw else []
        changes = [decision(one) for one in reversed(tuple(self.decided))]
        return [*last, *([Text("")] if last and changes else []), *changes]

    def _now(self, record: Record) -> list[Text]:
        wanted, size = record.raw, record.observation.size if record.observation else None
        lines = [("wanted", wanted.target, wanted.reason)] if wanted else []
        lines += [("allowed", change.after, why) for change, why in allowances(record)]
        if record.target is not None:
            stays = "the size stays" if size in (None, record.target) else f"instead of {size}"
            lines.append(("decided", record.target, stays))
        return [
            Text.assemble((f"{name:<10}", "dim"), (f"{number:>3}", "bold"), "  ", words)
            for name, number, words in lines
        ]


def decision(one: Decided) -> Text:
    """Return a decision as one line: time, old and new size, reason."""
    colour = "green" if one.after > one.before else "yellow"
    return Text.assemble(
        (f"{clock(one.elapsed_s):>5} ", "dim"),
        (f"{one.before} → {one.after}".ljust(8), colour),
        "  ",
        one.reason,
    )


def plain_line(record: Record, elapsed_s: float, total_s: float) -> str:
    """Return a record as one line without control codes."""
    observation, at = record.observation, f"{clock(elapsed_s)}/{clock(total_s)}"
    if observation is None:
        return f"{at}  {record.rescaling.detail}"
    size = (
        f"executors {UNKNOWN if observation.executors is None else observation.executors},"
        f" {UNKNOWN if record.target is None else record.target} decided"
    )
    numbers = (
        f"in {rows(observation.input_rows_per_s, '/s')}",
        f"lag {rows(observation.lag_rows)}",
        f"latency {_s(observation.latency_s)}",
        f"batch {_s(observation.batch_s)}",
    )
    return f"{at}  {size}, {', '.join(numbers)}"


def sparkline(values: Iterable[float], width: int) -> str:
    """Return the last values as ``width`` block characters, from 0 to their maximum."""
    shown = list(values)[-width:]
    top = max(shown, default=0.0)
    return "".join(
        _BLOCKS[round(value / top * (len(_BLOCKS) - 1)) if top > 0 else 0] for value in shown
    )


def bar(value: float, full: float, width: int, style: str) -> Text:
    """Return a bar of ``width`` characters that is full at ``full``."""
    # Rounded up, so that anything above 0 is visible. Below 0 is the time before the load begins.
    filled = min(width, max(0, math.ceil(width * value / full))) if full > 0 else 0
    return Text.assemble(("━" * filled, style), ("─" * (width - filled), "dim"))


def clock(seconds: float) -> str:
    """Return seconds as minutes and seconds."""
    total_s = max(0, int(seconds))
    return f"{total_s // 60}:{total_s % 60:02d}"


def rows(count: float | None, unit: str = "") -> str:
    """Return a number of rows; a dash if it is unknown."""
    return UNKNOWN if count is None else f"{count:,.0f}{unit}"


def _line(name: str, number: str, picture: Text, words: str, style: str = "") -> Text:
    return Text.assemble(
        (f"{name:<10}", "dim"),
        (f"{number:>10}", f"bold {style}".strip()),
        "  ",
        picture,
        (f" {words}" if picture.plain else words, "dim"),
    )


def _s(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.1f} s"
