"""How long Spark lets a task wait for the executor that it prefers: less around a change of size.

A Kafka source prefers an executor for each of its partitions. Around a change of size some of these
are cold, busy or on their way out, and a task that prefers one waits ``spark.locality.wait`` (3 s)
for it while other slots are free. A stateful query must wait: its state would otherwise wander, a
reload at each step.
"""

from __future__ import annotations

from collections.abc import Callable

SHORT = "100ms"
COLD_S = 20.0
"""New executors are cold for about this long."""


class LocalityWait:
    """Shortens the wait from a change of size until ``COLD_S`` after it, for applications without
    state, and restores it.
    """

    def __init__(
        self, set_wait: Callable[[str | None], bool], stateful: Callable[[], bool]
    ) -> None:
        self._set_wait = set_wait
        self._stateful = stateful
        self._until_s = float("-inf")
        self._is_short = False

    def tick(self, changing: bool, now: float) -> None:
        """Say whether the size is changing; the wait follows."""
        if changing:
            self._until_s = now + COLD_S
        short = now < self._until_s and not self._stateful()
        # Spark reads the wait for each new set of tasks, so a change counts from the next stage on.
        if short != self._is_short:
            self._set_wait(SHORT if short else None)
            self._is_short = short

    def restore(self) -> None:
        """Give Spark its own wait back."""
        # At the end of time no change of size is recent, whatever was said before.
        self.tick(changing=False, now=float("inf"))
