"""A live Spark application, resized: the target and the executors to be replaced are handed to the
steward at every tick.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Protocol

from rheostat.model import Capabilities, Decision, Memory, Rescaling
from rheostat.spark.resizing.locality_wait import Patience

_REPLACE = re.compile(r"replace executor (\S+)")


class Protocols(Protocol):
    """Runs the protocols of a change of size."""

    def ask(self, target: int, replace: Collection[str], now: float) -> Rescaling:
        """Take the target in force and the executors to be replaced, and tell where the change
        stands.
        """
        ...

    def resume(self, kept: Memory, now: float) -> None:
        """Go on where the one before has stood, from the memory of its last answer."""
        ...

    def start(self, tick: Callable[[], None]) -> None:
        """Go on between the decisions; ``tick`` is called in the same thread now and then."""
        ...

    def stop(self) -> None:
        """Do no more."""
        ...


class SparkActuator:
    """Brings an application to its target; what ``replace executor N`` names is replaced by a new
    one.

    ``application`` is its id: what is remembered of another one is not resumed. ``standby`` is how
    many executors are to stand by above the target.
    """

    def __init__(
        self,
        protocols: Protocols,
        capabilities: Capabilities,
        application: str = "",
        standby: int = 0,
    ) -> None:
        self._protocols = protocols
        self._capabilities = capabilities
        self._application = application
        self._standby = standby
        self.target: int | None = None
        self.patience: Patience | None = None

    def capabilities(self) -> Capabilities:
        """Say what can be done to this application."""
        return self._capabilities

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Assert the target and the replacements, and tell where they stand."""
        self.target = decision.target
        replaced = [
            named[1] for action in decision.actions if (named := _REPLACE.fullmatch(action))
        ]
        rescaling = self._protocols.ask(decision.target, replaced, now)
        if self.patience:
            self.patience.tick(rescaling.phase != "steady", now)
        kept = {
            "application": self._application,
            "target": decision.target,
            "protocol": rescaling.memory,
        }
        return replace(rescaling, memory=kept)

    def resume(self, kept: Memory, now: float) -> None:
        """Go on where an earlier controller of this application has stood, from the memory of what
        ``rescale`` returned last.
        """
        if kept.get("application") == self._application:
            self.target = kept["target"]
            self._protocols.resume(kept["protocol"], now)

    def at_work(self, registered: int) -> int:
        """Return how many of the registered executors count for the target: without those that
        stand by above it.
        """
        above = 0 if self.target is None else max(0, registered - self.target)
        return registered - min(self._standby, above)

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Go on between the decisions, in a thread of its own in which ``tick`` is called."""
        self._protocols.start(tick)

    def close(self) -> None:
        """Leave the application as it is, with its own settings."""
        self._protocols.stop()
        if self.patience:
            self.patience.restore()


class Adviser:
    """Touches nothing: the actuator of shadow mode, and of jobs that cannot be scaled from here."""

    def __init__(self, capabilities: Capabilities) -> None:
        self._capabilities = capabilities
        self.target: int | None = None

    def capabilities(self) -> Capabilities:
        """Say why nothing is changed."""
        return self._capabilities

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Change nothing; the decision is an advice."""
        return Rescaling(phase="advised", detail=f"{decision.target} executors would do")

    def close(self) -> None:
        """Leave everything as it is."""
