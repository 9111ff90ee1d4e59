"""Carries out the orders of the executor lifecycle, except assignments of state."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rheostat.protocols.orders import Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.spark.resizing.rescale_config import RescaleConfig
from rheostat.spark.resizing.rescale_ports import BlockManagers, Executors, Warmth


class ExecutorOrders:
    """Requests, warms, hides, decommissions and kills executors; ``warmth`` is None where they
    cannot be warmed.
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
        """Carry out an order; ``hosts`` are the hosts of the reachable executors."""
        match order:
            case Request(total):
                self._executors.request_total(total)
            case WarmUp(executor):
                self._warm_up(executor, hosts)
            case Hide(executors):
                self._block_managers.hide(list(executors))
            case Decommission(executors):
                self._let_go(list(executors))
            case Kill(executors):
                self._executors.kill(list(executors))

    def cold(self, executors: Collection[str]) -> set[str]:
        """Return the executors that are not warm yet; none where none can be warmed."""
        # An executor that can never become warm must not count as cold, or the protocol would wait
        # for its time limit.
        if not executors or self._warmth is None or not self._warmth.available:
            return set()
        return set(executors) - self._warmth.ready()

    def end(self) -> None:
        """Stop warming executors."""
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
            # Last: the executor receives no more tasks only after the request to Spark.
            self._terms.leaving(executor)
