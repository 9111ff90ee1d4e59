"""The actuator of a live Spark application: passes the size in force and the executors to replace
to the rescale controller at every tick.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Protocol

from rheostat.model import Capabilities, Decision, Memory, ReplaceExecutor, Rescaling
from rheostat.protocols.size_in_force import SizeInForce
from rheostat.spark.resizing.locality import LocalityWait


class Protocols(Protocol):
    """Runs the protocols of a change of size."""

    def ask(
        self, target: int, replace: Collection[str], now: float, decided: bool = True
    ) -> Rescaling:
        """Take the target in force and the executors to be replaced, and tell where the change
        stands.

        A target that nobody has ``decided`` is not asserted: nobody is asked for, nobody leaves.
        """
        ...

    def resume(self, kept: Memory, now: float) -> None:
        """Go on where the one before has stood, from the memory of its last answer."""
        ...

    def start(self, tick: Callable[[], None]) -> None:
        """Go on between the decisions; ``tick`` is called in the same thread now and then."""
        ...

    def hold(self) -> None:
        """Do nothing until the next ``start``; what is under way stays as it is."""
        ...

    def stop(self) -> None:
        """Do no more."""
        ...


class SparkActuator:
    """Brings an application to its size and replaces executors.

    ``size`` is the size in force, which the sensor shows. ``notes`` are remembered, the id of the
    application among them: what is remembered of another one is not resumed. ``happens`` is told
    the target and the time at every tick and returns, in words, what the cluster manager does
    beside.
    """

    def __init__(
        self,
        protocols: Protocols,
        capabilities: Capabilities,
        size: SizeInForce,
        locality_wait: LocalityWait,
        notes: Callable[[], Memory],
        happens: Callable[[int, float], str] = lambda _, __: "",
    ) -> None:
        self._happens = happens
        self._protocols = protocols
        self._capabilities = capabilities
        self._size = size
        self._locality_wait = locality_wait
        self._notes = notes
        self._tick: Callable[[], None] = lambda: None
        self._kept: Memory = {}
        self._is_held = False

    def capabilities(self) -> Capabilities:
        """Say what can be done to this application."""
        return self._capabilities

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Assert what is decided, and the replacements, and tell where they stand."""
        if self._is_held:
            self._is_held = False
            self._protocols.resume(self._kept, now)
            self._protocols.start(self._tick)
        replaced = [
            action.executor for action in decision.actions if isinstance(action, ReplaceExecutor)
        ]
        self._size.decide(decision.target, bool(replaced))
        decided = self._size.decided
        target = decision.target if decided is None else decided
        # Before the protocol is asked: what the cluster manager refuses limits the total that it
        # requests.
        happens = self._happens(target, now)
        rescaling = self._protocols.ask(target, replaced, now, decided is not None)
        self._kept = rescaling.memory
        self._locality_wait.tick(rescaling.phase != "steady", now)
        kept = {**self._notes(), "protocol": rescaling.memory}
        detail = "; ".join(filter(None, (rescaling.detail, happens)))
        return replace(rescaling, detail=detail, memory=kept)

    def resume(self, kept: Memory, now: float) -> None:
        """Know the executors as an earlier controller of this application has left them, from the
        memory of what ``rescale`` returned last.

        What it had decided is not resumed: others may have changed the size since.
        """
        # Every application counts its executors from 0 or 1 again: another one's numbers would name
        # ours.
        if kept.get("application") == self._notes()["application"]:
            self._kept = kept["protocol"]
            self._protocols.resume(self._kept, now)

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Go on between the decisions, in a thread of its own in which ``tick`` is called."""
        self._tick = tick
        self._protocols.start(tick)

    def hold(self) -> None:
        """Leave the application as it is until the next ``rescale``. What was decided is forgotten:
        others may change the size meanwhile.
        """
        if self._is_held:
            return
        self._is_held = True
        self._protocols.hold()
        self._locality_wait.restore()
        self._size.forget()

    def close(self) -> None:
        """Leave the application as it is, with its own settings."""
        self._protocols.stop()
        self._locality_wait.restore()


class NoopActuator:
    """Touches nothing: the actuator of shadow mode, and of jobs that cannot be scaled from here."""

    def __init__(self, capabilities: Capabilities) -> None:
        self._capabilities = capabilities

    def capabilities(self) -> Capabilities:
        """Say why nothing is changed."""
        return self._capabilities

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Change nothing; the decision is an advice."""
        # Always the same phase: nothing is under way, so nothing can be waited for or be late.
        return Rescaling(phase="advised", detail=f"{decision.target} executors would do")

    def resume(self, kept: Memory, now: float) -> None:
        """Resume nothing."""

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Do nothing between the decisions."""

    def close(self) -> None:
        """Leave everything as it is."""
