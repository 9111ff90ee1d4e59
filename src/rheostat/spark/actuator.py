"""A live Spark application, resized: out by request, in by decommission; the target is asserted again every tick."""

from __future__ import annotations

from typing import Protocol

from rheostat.model import Capabilities, Decision, Rescaling
from rheostat.spark.patience import Patience


class Scaler(Protocol):
    """The calls of the JVM that change the number of executors."""

    def executor_ids(self) -> list[str]:
        """Return the registered executors, oldest first."""
        ...

    def request_total(self, executors: int) -> bool:
        """Ask for a total."""
        ...

    def hide(self, executors: list[str]) -> bool:
        """Take executors out of the Kafka source's preferences."""
        ...

    def decommission(self, executors: list[str]) -> None:
        """Let executors end their tasks and leave."""
        ...

    def kill_idle(self, executors: list[str]) -> None:
        """End executors that run no task."""
        ...


class SparkActuator:
    """Brings an application to its target.

    Scaling in takes two ticks: the youngest executors (they hold the least state and cache) are first hidden from the
    Kafka source, and asked to leave one tick later, when no batch that prefers them is being planned any more.
    """

    def __init__(self, scaler: Scaler, capabilities: Capabilities, graceful: bool) -> None:
        self._scaler = scaler
        self._capabilities = capabilities
        self._graceful = graceful
        self._leaving: dict[str, bool] = {}
        """Executors on their way out, and whether they have been asked to leave."""
        self.target: int | None = None
        self.patience: Patience | None = None

    def capabilities(self) -> Capabilities:
        """Say what can be done to this application."""
        return self._capabilities

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Assert the target, start or continue leaving, and tell where that stands."""
        self.target = decision.target
        registered = self._scaler.executor_ids()
        self._leaving = {executor: asked for executor, asked in self._leaving.items() if executor in registered}
        self._ask_to_leave()
        staying = [executor for executor in registered if executor not in self._leaving]
        self._scaler.request_total(decision.target)
        surplus = staying[decision.target :]
        if surplus:
            self._scaler.hide(surplus)
            self._leaving.update(dict.fromkeys(surplus, False))
        rescaling = self._phase(decision.target, len(staying))
        if self.patience:
            self.patience.tick(rescaling.phase != "steady", now)
        return rescaling

    def close(self) -> None:
        """Leave the application as it is, with its own settings."""
        if self.patience:
            self.patience.restore()

    def _ask_to_leave(self) -> None:
        hidden = [executor for executor, asked in self._leaving.items() if not asked]
        if self._graceful and hidden:
            self._scaler.decommission(hidden)
            self._leaving.update(dict.fromkeys(hidden, True))
        elif hidden:
            self._scaler.kill_idle(hidden)

    def _phase(self, target: int, staying: int) -> Rescaling:
        if staying < target:
            return Rescaling(phase="growing", detail=f"waiting for {target - staying} of {target} executors")
        if self._leaving:
            return Rescaling(phase="shrinking", detail=f"executors {', '.join(sorted(self._leaving))} are leaving")
        return Rescaling(phase="steady")


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
