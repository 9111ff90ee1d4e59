"""Carries out what the protocol orders for executors: all but where state is sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rheostat.protocols.orders import Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.spark.resizing.rescale_config import RescaleConfig
from rheostat.spark.resizing.rescale_ports import BlockManagers, Executors, Warmth


class ExecutorOrders:
    """Lets executors come, be warmed, be hidden, and leave; ``warmth`` is None where they cannot be
    warmed.
    """

    def __init__(
        self,
        executors: Executors,
        block_managers: BlockManagers,
        warmth: Warmth | None,
        terms: RescaleConfig,
    ) -> None:
        self._executors = executors
        self._block_managers = block_managers
        self._warmth = warmth
        self._terms = terms

    def carry_out(self, order: Order, hosts: Mapping[str, str]) -> None:
        """Carry out an order; ``hosts`` are those of the executors that can be reached."""
        if isinstance(order, Request):
            self._executors.request_total(order.total)
        elif isinstance(order, WarmUp):
            self._warm_up(order.executor, hosts)
        elif isinstance(order, Hide):
            self._block_managers.hide(list(order.executors))
        elif isinstance(order, Decommission):
            self._let_go(list(order.executors))
        elif isinstance(order, Kill):
            self._executors.kill(list(order.executors))

    def cold(self, executors: Collection[str]) -> set[str]:
        """Return those of the executors that are not warm yet; none where none can be warmed."""
        # Whoever can never become warm must not count as cold, or the protocol would wait out its
        # limit.
        if not executors or self._warmth is None or not self._warmth.available:
            return set()
        return set(executors) - self._warmth.ready()

    def end(self) -> None:
        """Warm no more executors."""
        if self._warmth:
            self._warmth.close()

    def _warm_up(self, executor: str, hosts: Mapping[str, str]) -> None:
        # The executor may have gone since the facts of this step were taken.
        if self._warmth and self._warmth.available and executor in hosts:
            self._warmth.begin(executor, hosts[executor])

    def _let_go(self, executors: list[str]) -> None:
        if not self._terms.graceful:
            self._executors.kill_idle(executors)
            return
        self._executors.decommission(executors)
        for executor in executors:
            # Told last: only after Spark was asked does the executor get no task any more.
            self._terms.leaving(executor)
