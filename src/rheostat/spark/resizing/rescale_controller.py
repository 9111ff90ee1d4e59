"""The rescale controller: counts executors, detects batch boundaries, sends pending moves at them,
computes one transition, and carries out its orders.

``protocols.executors.transition`` makes all decisions; this module only provides facts and carries
out orders. It polls for a boundary many times per second during a rescale, otherwise once.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from rheostat.model import Memory as Kept
from rheostat.model import Rescaling
from rheostat.protocols.executors.executor_states import Facts
from rheostat.protocols.executors.memory import (
    Memory,
    awaits_boundary,
    has_rested,
    standing_by,
    undecided_size,
)
from rheostat.protocols.executors.transition import advance
from rheostat.protocols.orders import (
    Assign,
    Decommission,
    Hide,
    Kill,
    Order,
    Request,
    WarmUp,
    harmless,
)
from rheostat.spark.internals.block_managers import BlockManagers
from rheostat.spark.resizing.batch_boundaries import BatchBoundaryTracker
from rheostat.spark.resizing.conflict_detector import SharedCluster
from rheostat.spark.resizing.executor_registry import ExecutorRegistry
from rheostat.spark.resizing.locality import SourceHiding, TaskHold
from rheostat.spark.resizing.poll_thread import Pace, PollThread
from rheostat.spark.resizing.state_loading import LoadRoom, PendingMoves, StateLoading
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.running_queries import RunningQueries
from rheostat.spark.warming.preload import Preload
from rheostat.spark.warming.warmup import Warmup
from rheostat.state.assignment import Unit

ASSERT_S = 1.0
"""The maximum interval in seconds between protocol steps while boundaries are awaited."""

RECONCILE_S = 10.0
"""The interval in seconds at which state locations are read while nothing is in progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaleConfig:
    """What the session allows, the objective in seconds, and the number of standby executors.

    ``hides`` is false if a hidden executor could not migrate its blocks. With ``frees_nodes``, of
    executors with equal amounts of state, one on the emptiest node is removed first.
    """

    slo_s: float = 10.0
    hides: bool = True
    slots_per_executor: int = 1
    standby: int = 0
    max_executors: int = 8
    frees_nodes: bool = True

    def standby_above(self, target: int) -> int:
        """Return the standby executors above a target, within the maximum; none at target 0."""
        return min(self.standby, max(0, self.max_executors - target)) if target else 0


class RescaleRequest(NamedTuple):
    """The last request; ``decided`` is false if its target is not enforced."""

    target: int
    replace: tuple[str, ...]
    decided: bool


class RescaleController:
    """Brings an application to the size that was requested last.

    Where ``placement`` places no state, executors count as ready and empty at once. ``warmth`` is
    None if executors cannot be warmed, ``preload`` if batches load the moved state, ``hold`` if
    tasks keep Spark's wait for the executor with their state.
    """

    def __init__(
        self,
        cluster: SharedCluster,
        block_managers: BlockManagers,
        queries: RunningQueries,
        placement: Placement,
        warmth: Warmup | None,
        config: RescaleConfig,
        preload: Preload | None = None,
        hold: TaskHold | None = None,
    ) -> None:
        self._cluster = cluster
        self._queries = queries
        self._config = config
        self._lock = threading.Lock()
        self._thread = PollThread(self.poll, self.pause_s, cluster.ended)
        self._registry = ExecutorRegistry(cluster.executors)
        self._boundaries = BatchBoundaryTracker()
        self._pace = Pace()
        self._state = placement
        self._moves = PendingMoves()
        self._loading = StateLoading(queries, preload, config.slo_s)
        self._hiding = SourceHiding(block_managers, config.hides)
        self._hold = hold or TaskHold()
        self._orders = ExecutorOrders(cluster, block_managers, warmth)
        self._request: RescaleRequest | None = None
        self._memory = Memory()
        self._rescaling = Rescaling(phase="steady")
        self._alert = True
        """Whether the state may differ from the protocol's memory."""
        self._advanced_s = self._glanced_s = float("-inf")

    def resume(self, kept: Kept, now: float) -> None:
        """Continue the predecessor's work, before the first request, from its ``memory``."""
        self._memory = Memory.from_json(kept).resumed(now)

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Start polling in a daemon thread that also calls ``tick`` regularly."""
        self._hold.start()
        self._thread.start(tick)

    def stop(self) -> None:
        """Stop for good; work in progress stays as it is."""
        self.hold()
        self._orders.end()

    def hold(self) -> None:
        """Stop until the next ``start``; work in progress stays as it is."""
        # The thread first: a poll in progress would hide or hold executors again.
        self._thread.stop()
        self._hold.end()
        self._hiding.end()
        with self._lock:
            # These would be outdated: the size may have changed when the next request arrives.
            self._request, self._moves, self._alert = None, PendingMoves(), True

    def pause_s(self, now: float) -> float:
        """Return the seconds until the next poll."""
        coming = self._registry.coming
        next_end_s = None if coming else self._loading.next_end_s()
        return self._pace.pause_s(self._busy or coming, self._rescaling.phase, now, next_end_s)

    def reconcile(
        self, target: int, replace: Collection[str], now: float, decided: bool = True
    ) -> Rescaling:
        """Take the target in force and the executors to replace, compute one step, and return the
        progress.

        A target that was not ``decided`` is not enforced: no executor is requested or removed.
        """
        # The control loop calls this in its own thread: two steps at once would issue orders twice.
        with self._lock:
            self._learn()
            request = RescaleRequest(target, tuple(replace), decided)
            if request != self._request:
                # Weighing lists checkpoint folders, so it is done only when a rescale may begin.
                self._state.weigh()
            self._request = request
            self._poll(request, now, due=True)
            places = self._state.places_to_record(now)
            memory = self._memory.to_json()
            return dataclasses.replace(self._rescaling, memory=memory, places=places)

    def poll(self, now: float) -> None:
        """Check for a boundary and changed executors; compute a step if there is a reason."""
        with self._lock:
            # Before the first request there is no target, so nothing may be changed.
            if self._request is None:
                return
            if not self._busy and now - self._glanced_s >= RECONCILE_S:
                self._glance(now)
            self._poll(self._request, now, due=False)

    @property
    def _busy(self) -> bool:
        """Whether a batch boundary is awaited."""
        return self._alert or bool(self._moves) or awaits_boundary(self._memory)

    def _poll(self, request: RescaleRequest, now: float, due: bool) -> None:
        phase, rounds = self._rescaling.phase, self._boundaries.number
        due |= self._registry.count(rounds, phase, self._busy, now)
        if not (self._busy or due):
            return
        if due:
            self._hide_from_sources()  # the next batch may be planned during the step
        passed, over = self._update_boundaries(now)
        # Before the step, whose many calls take longer than Spark's planning of a batch.
        self._send(self._moves.take(passed))
        if due or over or now - self._advanced_s >= ASSERT_S:
            self._carry_out(self._advance(request, over, now), passed)
        changing = self._pace.changes(self._rescaling.phase, now)
        # Without state a task cannot take any away.
        self._hold.follow(changing and bool(self._state.units))
        # Again, because the step may have changed which executors are arriving.
        self._hide_from_sources()

    def _update_boundaries(self, now: float) -> tuple[Collection[str], bool]:
        """Return the queries that are at a boundary now, and whether a round has ended."""
        before = self._boundaries.number
        passed = self._boundaries.update(self._queries.batches(), self._queries.idle, now)
        if self._state.places:
            self._loading.note(passed)
        return passed, self._boundaries.number != before

    def _send(self, units: Mapping[Unit, str]) -> None:
        if units:
            self._state.assign(units, self._registry.hosts)
            self._loading.begin(units, self._registry.seasoned)

    def _advance(self, request: RescaleRequest, over: bool, now: float) -> tuple[Order, ...]:
        """Compute a step of the protocol and return its orders; ``over``: a round just ended."""
        # This queries every store, so it is omitted while nothing is in progress.
        if over or self._busy:
            self._state.poll()
            self._registry.note_holders(self._state.holders.values())
        # A complete round without a finding ends the alert, as does a lack of queries.
        self._alert &= not over and self._boundaries.number is not None
        target, standby = request.target, self._config.standby_above(request.target)
        if not request.decided:
            # The current size becomes the target: state is placed, and the size stays.
            target, standby = max(target, undecided_size(self._memory, self._registry.hosts)), 0
        step = advance(self._memory, self._facts(now), target, request.replace, standby)
        self._memory, self._rescaling, self._advanced_s = step.memory, step.rescaling, now
        self._pace.note((request, tuple(self._registry.hosts), step.rescaling), now)
        return step.orders if request.decided else harmless(step.orders)

    def _facts(self, now: float) -> Facts:
        hosts, room = self._registry.hosts, self._room()
        cold = self._orders.cold(self._registry.fresh)
        unready = cold | self._registry.newcomers(self._boundaries.number)
        return Facts(
            now_s=now,
            registered=tuple(hosts),
            holders=self._state.holders,
            weights=self._state.weights,
            ranges=self._state.ranges,
            nodes=self._cluster.platform.nodes(hosts) if self._config.frees_nodes else {},
            warm=frozenset(hosts.keys() - unready),
            warmable=self._state.places,
            batch=self._boundaries.number,
            slack_s=room.slack_s,
            load_s=room.load_s,
            in_pause=room.in_pause,
            placing=bool(self._state.units),
            slots_per_executor=self._config.slots_per_executor,
        )

    def _room(self) -> LoadRoom:
        return self._loading.room(
            self._state.runs,
            growing=self._rescaling.phase == "growing",
            cold=bool(self._registry.fresh - standing_by(self._memory)),
        )

    def _carry_out(self, orders: Collection[Order], passed: Collection[str]) -> None:
        for order in orders:
            if isinstance(order, Assign):
                self._assign(order.units, passed)
            else:
                self._orders.carry_out(order, self._registry.hosts)

    def _assign(self, units: Mapping[Unit, str], passed: Collection[str]) -> None:
        """Send units whose query is at a boundary or whose executor is lost; others wait."""
        self._moves.add(units)
        # An unknown holder is not lost: a running batch may be about to open the stores there.
        holders, known = self._state.holders, (None, *self._registry.hosts)
        lost = {unit for unit in units if holders.get(unit) not in known}
        self._send(self._moves.take(passed, lost))
        for run_id in self._moves.runs:
            self._boundaries.postpone(run_id)

    def _hide_from_sources(self) -> None:
        """Hide executors from a Kafka source from the first arrival on, cold ones first."""
        # Without state the locality wait is shortened instead, because that can be undone.
        if not (self._hiding.works and self._state.units):
            return
        self._hiding.hide_newcomers()
        arriving = self._registry.arriving(self._memory.lives)
        if arriving:
            cold = arriving & self._orders.cold(self._registry.fresh)
            self._hiding.hide(cold, self._registry.hosts.keys())

    def _learn(self) -> None:
        """Add new queries and their stores, and forget those that have ended."""
        running = self._queries.refresh()
        self._loading.keep(running)
        self._moves.keep(running)
        # State of a new query is where Spark put it: check it even if the size does not change.
        self._alert |= self._state.update(self._queries, running)

    def _glance(self, now: float) -> None:
        """Check whether state has moved by itself, or an assignment has rested long enough."""
        self._glanced_s = now
        self._alert |= self._state.poll() or has_rested(self._memory, now)


class ExecutorOrders:
    """Carries out orders about executors; ``warmth`` is None if they cannot be warmed."""

    def __init__(
        self, cluster: SharedCluster, block_managers: BlockManagers, warmth: Warmup | None
    ) -> None:
        self._cluster = cluster
        self._block_managers = block_managers
        self._warmth = warmth

    def carry_out(self, order: Order, hosts: Mapping[str, str]) -> None:
        """Carry out an order; ``hosts`` are the hosts of the reachable executors."""
        match order:
            case Request(total):
                self._cluster.request_total(total)
            case WarmUp(executor):
                # It may have been removed since the facts of this step were taken.
                if self._warmth and self._warmth.available and executor in hosts:
                    self._warmth.begin(executor, hosts[executor])
            case Hide(executors):
                self._block_managers.hide(list(executors))
            case Decommission(executors):
                self._decommission(list(executors))
            case Kill(executors):
                self._cluster.executors.kill(list(executors))

    def _decommission(self, executors: list[str]) -> None:
        if not self._cluster.executors.can_decommission:
            self._cluster.executors.kill_idle(executors)
            return
        self._cluster.executors.decommission(executors)
        for executor in executors:
            # Last: the executor receives no more tasks only after the request to Spark.
            self._cluster.leaving(executor)

    def cold(self, executors: Collection[str]) -> set[str]:
        """Return the executors that are not warm yet; empty if none can be warmed."""
        # An executor that cannot become warm is not cold: the protocol would wait for it.
        if not executors or self._warmth is None or not self._warmth.available:
            return set()
        return set(executors) - self._warmth.ready()

    def end(self) -> None:
        """Stop warming executors."""
        if self._warmth:
            self._warmth.close()
