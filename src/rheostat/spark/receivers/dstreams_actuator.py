"""The actuator of a StreamingContext: scales executors, and moves receivers accordingly."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rheostat.model import Capabilities, Decision, Memory, Rescaling
from rheostat.ports import Actuator
from rheostat.protocols.orders import Decommission, Kill, Request
from rheostat.protocols.receivers.receiver_moves import ReceiverFacts, ReceiverOrder, step
from rheostat.spark.internals.executors import Executors
from rheostat.spark.internals.receiver_tracker import DStreams
from rheostat.spark.resizing.actuator import LiveSize

_log = logging.getLogger("rheostat")


@dataclass(eq=False)
class DStreamsActuator(Actuator):
    """Brings a StreamingContext to its target size, one step per tick.

    ``moves``: receivers leave departing executors and are rebalanced every minute (version 2).
    """

    executors: Executors
    tracker: DStreams
    able: Capabilities
    size: LiveSize
    application: str
    cores: int
    moves: bool
    _memory: Memory = field(default_factory=dict)

    def capabilities(self) -> Capabilities:
        """Return what can be done to this application."""
        return self.able

    def sizes(self, now: float) -> tuple[int | None, int | None]:
        """Return the number of working executors and the target in force."""
        return self.size.now(now)

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Pass the decision to executors and receivers, and return their progress."""
        self.size.decide(decision.target)
        receivers = self.tracker.receivers()
        if receivers is None:
            return Rescaling(
                phase="blocked", detail="Spark does not report where its receivers run"
            )
        hosts = self.executors.hosts()
        facts = ReceiverFacts(
            executors=tuple(hosts),
            receivers={
                receiver.stream: receiver.executor if receiver.executor in hosts else None
                for receiver in receivers
            },
            cores=self.cores,
            moves=self.moves,
        )
        orders, rescaling = step(facts, self.size.decided, self._memory, now)
        self._memory = rescaling.memory
        for order in orders:
            self._carry_out(order, hosts)
        kept = {"application": self.application, "receivers": rescaling.memory}
        return replace(rescaling, memory=kept)

    def resume(self, kept: Memory, now: float) -> None:
        """Continue with the executors that were leaving under an earlier controller."""
        if kept.get("application") == self.application:
            self._memory = kept.get("receivers", {})

    def hold(self) -> None:
        """Forget the decision: others may change the size until the next ``rescale``."""
        self.size.forget()

    def _carry_out(self, order: ReceiverOrder, hosts: Mapping[str, str]) -> None:
        if isinstance(order, Request):
            self.executors.request_total(order.total)
        elif isinstance(order, Decommission):
            # Otherwise the executor is killed once its receivers have moved, or at the deadline.
            if self.executors.can_decommission:
                self.executors.decommission(list(order.executors))
        elif isinstance(order, Kill):
            self.executors.kill(list(order.executors))
        elif not self.tracker.move(order.receiver, order.executor, hosts[order.executor]):
            _log.warning("rheostat: receiver %s could not be moved", order.receiver)
