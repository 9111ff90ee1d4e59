"""The live view of a run: full screen on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from rheostat.model import Record
from rheostat_lab.demo.dashboard import Dashboard, clock, plain_line

REDRAWS_PER_S = 1.0
PLAIN_EVERY_S = 5.0


class View(Protocol):
    """The demo's messages to the user; a context manager that restores the terminal."""

    def step(self, text: str) -> None:
        """Show which step of the set-up begins; the previous one is done."""

    def show(self, record: Record, elapsed_s: float, total_s: float) -> None:
        """Show a tick of the loop."""

    def note(self, text: str) -> None:
        """Show a message that must not be lost."""

    def finish(self, table: RenderableType) -> None:
        """End the live part and print the result."""

    def __enter__(self) -> View: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def open_view(title: str, max_executors: int, slo_s: float, console: Console | None = None) -> View:
    """Return the view for standard output: full screen on a terminal, otherwise plain lines without
    control codes.
    """
    console = console or Console(highlight=False)
    # The view draws with characters that only a Unicode encoding has.
    if console.is_terminal and not console.is_dumb_terminal and console.encoding.startswith("utf"):
        return ScreenView(Dashboard(title=title, max_executors=max_executors, slo_s=slo_s), console)
    return PlainView(console)


class ScreenView:
    """Shows steps as permanent lines, then the run on the alternate screen, redrawn once a second.

    The complete screen is redrawn each time, so that a resize or a stray line on the terminal is
    repaired within a second. Notes are printed again when the normal screen returns.
    """

    def __init__(
        self, dashboard: Dashboard, console: Console, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._dashboard = dashboard
        self._console = console
        self._now = now
        self._step: tuple[str, float] | None = None
        self._shown: tuple[float, float] | None = None
        self._notes: list[str] = []
        self._live: Live | None = None

    def step(self, text: str) -> None:
        """Print the running step with its duration, and show the next one as running."""
        self._end_step()
        self._stop()
        self._step = (text, self._now())
        self._dashboard.begin()
        self._start(screen=False)

    def show(self, record: Record, elapsed_s: float, total_s: float) -> None:
        """Add a tick; the next redraw shows it."""
        self._end_step()
        self._dashboard.see(record, elapsed_s, total_s)
        self._shown = (elapsed_s, self._now())
        self._start(screen=True)

    def note(self, text: str) -> None:
        """Show a note, below the decisions while the run is shown."""
        if self._shown is None:
            self._console.print(Text(text, style="yellow"))
        else:
            self._dashboard.note = text
            # The alternate screen is lost at the end, but its notes must not be.
            self._notes.append(text)

    def finish(self, table: RenderableType) -> None:
        """Restore the normal screen and print the result."""
        self._end()
        self._console.print(table)

    def _render(self) -> RenderableType:
        if self._step is not None:
            text, since_s = self._step
            line = Text.assemble(("… ", "cyan"), text, (f"  {self._now() - since_s:.0f} s", "dim"))
            line.truncate(self._console.width, overflow="ellipsis")
            return line
        if self._shown is not None:
            elapsed_s, shown_s = self._shown
            # The clock continues between two ticks of the loop, which may be seconds apart.
            self._dashboard.elapsed_s = elapsed_s + self._now() - shown_s
        return self._dashboard

    def _start(self, screen: bool) -> None:
        if self._live is None:
            self._live = Live(
                get_renderable=self._render,
                console=self._console,
                refresh_per_second=REDRAWS_PER_S,
                screen=screen,
                transient=True,
            )
            self._live.start(refresh=True)

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _end_step(self) -> None:
        if self._step is None:
            return
        text, since_s = self._step
        self._stop()
        self._step = None
        self._console.print(
            Text.assemble(("✓ ", "green"), text, (f"  {self._now() - since_s:.1f} s", "dim"))
        )

    def _end(self) -> None:
        self._end_step()
        self._stop()
        for note in self._notes:
            self._console.print(Text(note, style="yellow"))
        self._notes.clear()

    def __enter__(self) -> ScreenView:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and self._step is not None:
            self._stop()
            self._console.print(Text.assemble(("✗ ", "red"), self._step[0]))
            self._step = None
        self._end()


class PlainView:
    """Prints one line per step, and in the run one per five seconds or change of target."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._dashboard = Dashboard(title="", max_executors=0, slo_s=0.0)
        self._printed_s: float | None = None

    def step(self, text: str) -> None:
        """Print the step; the previous run is over."""
        self._dashboard.begin()
        self._printed_s = None
        self._print(f"... {text}")

    def show(self, record: Record, elapsed_s: float, total_s: float) -> None:
        """Print a decision immediately, and the state every five seconds."""
        decided = self._dashboard.see(record, elapsed_s, total_s)
        if decided:
            self._print(
                f"{clock(elapsed_s)}/{clock(total_s)}  {decided.before} -> {decided.after}"
                f" executors: {decided.reason}"
            )
        if self._printed_s is None or elapsed_s - self._printed_s >= PLAIN_EVERY_S:
            self._printed_s = elapsed_s
            self._print(plain_line(record, elapsed_s, total_s))

    def note(self, text: str) -> None:
        """Print the note."""
        self._print(text)

    def finish(self, table: RenderableType) -> None:
        """Print the result."""
        self._console.print(table)

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
        # A pipe is buffered, but its reader needs the line now.
        self._console.file.flush()

    def __enter__(self) -> PlainView:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
