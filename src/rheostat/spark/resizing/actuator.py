"""Rescales a live Spark application: passes the size in force and the executors to be replaced to
the rescale controller at every tick.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Protocol

from rheostat.model import Capabilities, Decision, Memory, ReplaceExecutor, Rescaling
from rheostat.ports import Actuator
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


class Counted(Protocol):
    """The executors of an application, as far as they are counted."""

    def registered(self) -> int:
        """Return how many are registered."""
        ...

    def requested(self) -> int | None:
        """Return how many the cluster manager was asked for last; None: unknown."""
        ...


class LiveSize(SizeInForce):
    """The size in force of a live application; ``configured`` is how many executors its settings
    request at the start, None: all that the cluster has.
    """

    def __init__(self, executors: Counted, configured: int | None, standby: int = 0) -> None:
        super().__init__(standby)
        self._executors = executors
        self._configured = configured

    def requested(self) -> int | None:
        """Return how many executors the cluster manager was asked for last; None: unknown."""
        return self._executors.requested() or self._configured

    def now(self, now: float) -> tuple[int | None, int | None]:
        """Return the executors at work and the size in force."""
        # The request may change until something is decided, and matters only until then.
        requested = self.requested() if self.decided is None else None
        return self.see(self._executors.registered(), requested, now)


class Environment(Protocol):
    """What happens to the executors besides Rheostat's own requests."""

    def look(self, target: int, now: float) -> str:
        """Return it in words, empty if all is well; called at every tick."""
        ...


class SparkActuator(Actuator):
    """Brings an application to its size; an executor that ``replace executor N`` names is replaced
    by a new one.

    ``notes`` are remembered, among them the id of the application: the memory of another one is not
    resumed.
    """

    def __init__(
        self,
        protocols: Protocols,
        capabilities: Capabilities,
        size: LiveSize,
        locality_wait: LocalityWait,
        notes: Callable[[], Memory],
        environment: Environment | None = None,
    ) -> None:
        self._environment = environment
        self._protocols = protocols
        self._capabilities = capabilities
        self._size = size
        self._locality_wait = locality_wait
        self._notes = notes
        self._tick: Callable[[], None] = lambda: None
        self._kept: Memory = {}
        self._is_held = False

    def capabilities(self) -> Capabilities:
        """Return what can be done to this application."""
        return self._capabilities

    def sizes(self, now: float) -> tuple[int | None, int | None]:
        """Return the executors at work and the target in force."""
        return self._size.now(now)

    def begin(self, decision: Decision, now: float) -> None:
        """Request the initial size where it is larger than what was requested before."""
        if self._size.begin(decision.target, self._size.requested()):
            self.rescale(decision, now)

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Reconcile the size with the decision, replace executors, and return the progress."""
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
        # Before the protocol: what the cluster manager refuses limits the total that it requests.
        happens = self._environment.look(target, now) if self._environment else ""
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


class NoopActuator(Actuator):
    """Changes nothing: the actuator of shadow mode, and of jobs that cannot be scaled from here."""

    def __init__(self, capabilities: Capabilities, size: LiveSize | None = None) -> None:
        self._capabilities = capabilities
        self._size = size

    def capabilities(self) -> Capabilities:
        """Return why nothing is changed."""
        return self._capabilities

    def sizes(self, now: float) -> tuple[int | None, int | None] | None:
        """Return the executors at work and the size in force, if they are counted here."""
        return self._size.now(now) if self._size else None

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Change nothing; the decision is an advice."""
        # Always the same phase: nothing is under way, so nothing can be waited for or be late.
        return Rescaling(phase="advised", detail=f"{decision.target} executors would do")
