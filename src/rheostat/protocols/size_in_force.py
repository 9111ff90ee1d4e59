"""The size in force: the last decision; before the first one, the number of executors that are
registered or that were last requested from the cluster manager, whichever is larger.

Before the first decision no size is reconciled: no executor is requested or removed. A competing
program, which repeatedly changes the size that was set last, is detected here.
"""

from __future__ import annotations

from dataclasses import dataclass

SETTLE_S = 15.0
"""If the cluster manager does not report its last request, executors that start together register
within seconds (0.4 to 9 s apart on Standalone); the number registered this many seconds after the
last one is the size."""

RECENT_S = 60.0
"""Executors of the last minute count as present: the cluster manager replaces a lost one within 5
to 60 s."""


class SizeInForce:
    """The number of executors in force, kept by an actuator.

    ``standby`` executors above the target do not count as working.
    """

    def __init__(self, standby: int = 0) -> None:
        self._standby = standby
        self._decided: int | None = None
        self._shown: int | None = None
        self._registered = 0
        self._recent: tuple[tuple[float, int], ...] = ()
        self._most, self._grew_s = 0, float("-inf")

    @property
    def decided(self) -> int | None:
        """The last decision; None before the first."""
        return self._decided

    def update(
        self, registered: int, requested: int | None, now: float
    ) -> tuple[int | None, int | None]:
        """Return the working executors and the size in force, from the registered executors and the
        last request to the cluster manager (None: unknown, or without a number).

        Both are None as long as nothing is decided, no request is known, and executors still
        register: there is no size yet to decide upon.
        """
        if self._decided is not None:
            # Standby executors are those above the decision; up to it all present ones work.
            above = max(0, registered - self._decided)
            return registered - min(self._standby, above), self._decided
        self._note(registered, now)
        self._registered = registered
        # Half of the executors may still be starting: a decision now would remove them on arrival.
        if not requested and now - self._grew_s < SETTLE_S:
            self._shown = None
            return None, None
        # The larger of both: requested executors are starting, and lost ones are being replaced.
        self._shown = max(requested or 0, *(count for _, count in self._recent))
        return registered, self._shown

    def begin(self, target: int, requested: int | None) -> bool:
        """Put the initial size in force if it exceeds the request to the cluster manager, and
        return whether it was. If the request is unknown, executors may still register.
        """
        if self._decided is not None or not requested or target <= max(requested, self._registered):
            return False
        self._decided = target
        return True

    def decide(self, target: int, replaces: bool = False) -> None:
        """Take a decision: from now on its target is in force.

        A decision to keep an undecided size, which is the size in force or its registered part,
        changes nothing, unless it ``replaces`` executors, or standby executors are wanted above it
        and all of it is registered; neither does one before there was a size, or an executor.
        """
        if self._decided is None and not self._is_news(target, replaces):
            return
        self._decided = target

    def forget(self) -> None:
        """Forget the decision: the size is again the present or the requested number."""
        self._decided = None

    def _is_news(self, target: int, replaces: bool) -> bool:
        if not self._shown or not self._registered:
            return False
        arrived = self._registered >= self._shown
        wants_standby = self._standby > 0 and arrived
        # A policy that keeps the size returns either number.
        return target not in (self._shown, self._registered) or replaces or wants_standby

    def _note(self, registered: int, now: float) -> None:
        """Record the registered number; after the clock was set back, later times become now."""
        recent = ((min(at_s, now), count) for at_s, count in self._recent)
        kept = [(at_s, count) for at_s, count in recent if now - at_s < RECENT_S]
        self._recent = (*kept, (now, registered))
        # After the clock was set back, executors would otherwise seem to register for that long.
        self._grew_s = min(self._grew_s, now)
        if registered > self._most:
            self._most, self._grew_s = registered, now


MOST, WITHIN_S = 3, 120.0
"""A single change is a person's, or a start; three within two minutes are a program's: an HPA acts
every 15 s, and plugins that imitate one at least as often."""

OTHER = "another program requested"
"""The beginning of another program's request in the journal."""


@dataclass(frozen=True, slots=True)
class ConflictHistory:
    """The times at which others set the size, in seconds of any epoch, and their last size."""

    times_s: tuple[float, ...] = ()
    size: int | None = None

    def recorded(self, size: int, now: float) -> ConflictHistory:
        """Return the history after another program set the size to ``size``."""
        # A time in the future means that the clock was set back; it must not count for hours.
        kept = tuple(at_s for at_s in self.times_s if 0 <= now - at_s < WITHIN_S)
        return ConflictHistory((*kept[1 - MOST :], now), size)

    def is_conflict(self, now: float) -> bool:
        """Return whether the size was set ``MOST`` times within the last ``WITHIN_S`` seconds."""
        return sum(0 <= now - at_s < WITHIN_S for at_s in self.times_s) >= MOST
