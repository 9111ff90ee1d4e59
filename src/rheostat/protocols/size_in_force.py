"""The size in force: the last decision; before the first one, the number of executors that are
registered or that the cluster manager was asked for last, whichever is larger.

Before the first decision no size is reconciled: no executor is requested, and none leaves.
"""

from __future__ import annotations

SETTLE_S = 15.0
"""Where the cluster manager does not tell what it was asked for, executors that arrive together do
so within seconds (0.4 to 9 s apart on Standalone); what is there this long after the last came, is
what there is."""

RECENT_S = 60.0
"""What was there in the last minute is there: an executor that is lost is replaced by the cluster
manager, within 5 to 60 s."""


class SizeInForce:
    """The number of executors in force, kept by an actuator.

    ``standby`` executors above the target do not count as at work.
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
        """What was decided last; None as long as nobody has decided anything."""
        return self._decided

    def see(
        self, registered: int, requested: int | None, now: float
    ) -> tuple[int | None, int | None]:
        """Return the executors at work and the size in force, for what is registered and what the
        cluster manager was asked for last (None: it does not tell, or was given no number).

        Both are None as long as nothing is decided, nothing is known to have been asked for, and
        executors still arrive: then there is no size yet to decide upon.
        """
        if self._decided is not None:
            # Standby executors are those above the decision; below it all that are there are at
            # work.
            above = max(0, registered - self._decided)
            return registered - min(self._standby, above), self._decided
        self._note(registered, now)
        self._registered = registered
        # Half of the executors may still be on their way: a decision now would end them on arrival.
        if not requested and now - self._grew_s < SETTLE_S:
            self._shown = None
            return None, None
        # The larger of both: what was asked for is coming, and what was there is being replaced.
        self._shown = max(requested or 0, *(count for _, count in self._recent))
        return registered, self._shown

    def begin(self, target: int, requested: int | None) -> bool:
        """Put the initial size in force where it is more than what was requested from the cluster
        manager, and return whether it is. Where that is unknown, executors may still arrive.
        """
        if self._decided is not None or not requested or target <= max(requested, self._registered):
            return False
        self._decided = target
        return True

    def decide(self, target: int, replaces: bool = False) -> None:
        """Take a decision: from now on its target is in force.

        A decision to keep what nobody has decided, the size in force or what is registered of it,
        decides nothing, unless it ``replaces`` executors, or others are to stand by above it and
        all of it is there; neither does one before there was a size, or an executor.
        """
        if self._decided is None and not self._is_news(target, replaces):
            return
        self._decided = target

    def forget(self) -> None:
        """Forget what was decided: the size is again what is there, or was asked for."""
        self._decided = None

    def _is_news(self, target: int, replaces: bool) -> bool:
        if not self._shown or not self._registered:
            return False
        arrived = self._registered >= self._shown
        wants_standby = self._standby > 0 and arrived
        # Either number is what a policy that keeps the size would say.
        return target not in (self._shown, self._registered) or replaces or wants_standby

    def _note(self, registered: int, now: float) -> None:
        """Remember what is registered; after a clock was put back, what lies ahead of it is now."""
        recent = ((min(at_s, now), count) for at_s, count in self._recent)
        kept = [(at_s, count) for at_s, count in recent if now - at_s < RECENT_S]
        self._recent = (*kept, (now, registered))
        # After a clock was put back, the executors would else seem to arrive for as long.
        self._grew_s = min(self._grew_s, now)
        if registered > self._most:
            self._most, self._grew_s = registered, now
