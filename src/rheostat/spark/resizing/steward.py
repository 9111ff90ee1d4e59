"""The steward runs the protocol of a change of size: it waits for batch boundaries, says what is
so, and does what is ordered.

``rescaling.saga`` decides everything; here are only its facts and its hands. A thread of its own,
because a boundary has to be met within milliseconds while something is under way; while nothing is,
it looks once a second.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping

from rheostat.model import Memory as Kept
from rheostat.model import Rescaling
from rheostat.rescaling.facts import Facts
from rheostat.rescaling.life import ARRIVING, DONE
from rheostat.rescaling.orders import Assign, Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.rescaling.saga import Memory, advance
from rheostat.rescaling.waits import Waits
from rheostat.spark.resizing.pace import CALM_S, COUNT_S, POLL_S, Pace
from rheostat.spark.resizing.resize_terms import Terms
from rheostat.spark.resizing.rounds import Rounds
from rheostat.spark.resizing.slack import Loads
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.resizing.steward_ports import Executors, Preloading, Queries, Warmth
from rheostat.state.units import Unit

_log = logging.getLogger("rheostat")
ASSERT_S = 1.0
"""The protocol goes a step at least so often while it waits for boundaries."""

RECONCILE_S = 10.0
"""So often the places are looked at while nothing is under way."""

TICK_S = 5.0
_REST_S = Waits().rest_s
_RESTING = DONE | {"standby", "leaving", "killed"}
"""Phases that no batch boundary ends."""


class Steward:
    """Brings an application to the size that was asked for last.

    ``placement`` is None where state is not to be placed (or cannot be): executors then count as
    settled and empty at once. ``warmth`` is None where executors cannot be warmed, ``preload``
    where batches load the state that moves.
    """

    def __init__(
        self,
        executors: Executors,
        queries: Queries,
        placement: Placement | None,
        warmth: Warmth | None,
        terms: Terms,
        preload: Preloading | None = None,
    ) -> None:
        self._executors = executors
        self._queries = queries
        self._placement = placement
        self._warmth = warmth
        self._preload = preload
        self._terms = terms
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._rounds = Rounds()
        self._loads = Loads()
        self._pace = Pace()
        self._memory = Memory()
        self._target: int | None = None
        self._replace: tuple[str, ...] = ()
        self._weights: Mapping[Unit, float] | None = None
        self._rescaling = Rescaling(phase="steady")
        self._hosts: Mapping[str, str] = {}
        self._holders: dict[Unit, str | None] = {}
        self._glanced: dict[Unit, str | None] = {}
        self._joined: dict[str, int | None] = {}
        """The round in which each executor was first seen."""
        self._held: set[str] = set()
        """Executors that have held state: what they load next is not their first."""
        self._pending: dict[Unit, str] = {}
        """Units that wait for a boundary of their query."""
        self._alert = True
        """Whether something is not as it was left, whatever the protocol thinks."""
        self._hides, self._holds = terms.hides, False
        self._hides_newcomers: bool | None = None
        """Whether executors are hidden as they come; None before that was asked for."""
        self._coming = False
        """Whether an executor is registered that cannot be reached yet: within a second it can, and
        a source may prefer it."""
        self._counted_s = self._advanced_s = self._glanced_s = float("-inf")

    def resume(self, kept: Kept, now: float) -> None:
        """Go on where the one before has stood, from ``memory`` of what it returned last; before
        anything is asked for.
        """
        self._memory = Memory.from_json(kept).resumed(now)

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Look from now on, in a thread that never keeps the application from ending; ``tick`` is
        called there every ``TICK_S``.
        """
        self._thread = threading.Thread(
            target=self._run, args=(tick,), name="rheostat-steward", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Look no more; what is under way stays as it is."""
        self._end.set()
        if self._thread:
            self._thread.join(timeout=10)
        if self._warmth:
            self._warmth.close()
        if self._holds:
            self._terms.hold(False)
        if self._hides_newcomers:
            self._executors.hide_newcomers(False)
        self._terms.at_end()

    def _run(self, tick: Callable[[], None]) -> None:
        said: set[str] = set()
        ticked_s = float("-inf")
        while not self._end.wait(self.pause_s(time.time())):
            try:
                self.look(time.time())
                if time.time() - ticked_s >= TICK_S:
                    ticked_s = time.time()
                    tick()
            except (
                Exception
            ) as fault:  # a fault of ours never reaches the job: the next look tries again
                if self._terms.ended():
                    return
                kind = f"{type(fault).__name__}: {fault}"
                if kind not in said:
                    said.add(kind)
                    _log.warning(
                        "rheostat: a step of the change of size failed, it is tried again: %s", kind
                    )
                    _log.debug("rheostat: where it failed", exc_info=True)
                self._end.wait(CALM_S)

    def pause_s(self, now: float) -> float:
        """Return how long to wait until the next look."""
        return self._pace.pause_s(self._busy or self._coming, self._rescaling.phase, now)

    @property
    def _busy(self) -> bool:
        """Whether a batch boundary is waited for."""
        return (
            self._alert
            or bool(self._pending)
            or any(life.phase not in _RESTING for life in self._memory.lives.values())
        )

    def ask(self, target: int, replace: Collection[str], now: float) -> Rescaling:
        """Take the target in force and the executors to be replaced, go a step, and tell where the
        change stands.
        """
        with self._lock:
            asked = (target, tuple(replace))
            self._learn()
            if self._placement and asked != (self._target, self._replace):
                self._weights = self._placement.weights()
            self._target, self._replace = asked
            self._look(target, now, due=True)
            return dataclasses.replace(self._rescaling, memory=self._memory.to_json())

    def look(self, now: float) -> None:
        """Look for a boundary and for executors that came or went, and go a step if there is a
        reason to.
        """
        with self._lock:
            if self._target is None:
                return
            if not self._busy and now - self._glanced_s >= RECONCILE_S:
                self._glance(now)
            self._look(self._target, now, due=False)

    def _look(self, target: int, now: float, due: bool) -> None:
        due |= self._count(now)
        if not (self._busy or due):
            return
        if due:
            self._hide_preferences()  # the next batch may be planned while the step is taken
        before = self._rounds.number
        passed = self._rounds.see(self._queries.batches(), self._queries.idle, now)
        if self._placement:
            for run_id in passed:
                self._loads.note(run_id, self._queries.rhythm(run_id))
        self._send([unit for unit in self._pending if unit[0] in passed])
        over = self._rounds.number != before
        if due or over or now - self._advanced_s >= ASSERT_S:
            self._advance(target, passed, over, now)
        self._hold_state(now)
        self._hide_preferences()

    def _count(self, now: float) -> bool:
        """Look which executors are registered, not at every poll; tell whether that has changed."""
        if self._busy and now - self._counted_s < (POLL_S if self._coming else COUNT_S):
            return False
        before, self._hosts, self._counted_s = self._hosts, self._executors.hosts(), now
        growing = self._rescaling.phase == "growing"
        self._coming = growing and self._executors.registered() > len(self._hosts)
        self._joined = {
            executor: self._joined.get(executor, self._rounds.number) for executor in self._hosts
        }
        return tuple(before) != tuple(self._hosts)

    def _learn(self) -> None:
        """Find new queries and their stores, and forget those that have ended."""
        running = self._queries.refresh()
        self._loads.keep(running)
        self._pending = {
            unit: executor for unit, executor in self._pending.items() if unit[0] in running
        }
        if self._placement is None:
            return
        self._placement.forget(running)
        for run_id in set(running) - {unit[0] for unit in self._placement.units}:
            state = self._queries.state(run_id)
            if state:
                self._placement.learn(run_id, *state)
                self._alert = True

    def _glance(self, now: float) -> None:
        """Look whether state has wandered while nothing was under way, and whether an assignment
        has rested long enough.

        A difference that stays is looked into once: the stores of a partition may lie on several
        executors for long.
        """
        self._glanced_s = now
        if self._placement:
            before, self._glanced = self._glanced, self._placement.glance()
            self._alert |= self._glanced not in (before, self._holders)
        stuck = (life for life in self._memory.lives.values() if life.phase == "stuck")
        self._alert |= any(now - life.since_s >= _REST_S for life in stuck)

    def _advance(self, target: int, passed: Collection[str], over: bool, now: float) -> None:
        if self._placement and (over or self._busy):
            before, self._holders = self._holders, self._placement.holders()
            self._glanced = self._glanced if self._holders == before else {}
            self._held.update(holder for holder in self._holders.values() if holder)
        self._alert &= not over and self._rounds.number is not None
        step = advance(
            self._memory, self._facts(now), target, self._replace, self._terms.standby_above(target)
        )
        self._memory, self._rescaling, self._advanced_s = step.memory, step.rescaling, now
        self._pace.note((target, self._replace, tuple(self._hosts), step.rescaling), now)
        for order in step.orders:
            self._carry_out(order, passed)

    def _facts(self, now: float) -> Facts:
        slack_s, load_s, in_pause = self._room()
        return Facts(
            now_s=now,
            registered=tuple(self._hosts),
            holders=self._holders,
            weights=self._weights,
            ranges=bool(self._placement and self._placement.ranges),
            warm=frozenset(self._hosts.keys() - self._unready()),
            warmable=self._placement is not None,
            batch=self._rounds.number,
            slack_s=slack_s,
            load_s=load_s,
            in_pause=in_pause,
            placing=bool(self._placement and self._placement.units),
            slots_per_executor=self._terms.slots_per_executor,
        )

    def _room(self) -> tuple[float | None, float | None, bool]:
        """Return how long state may load, what a unit takes, and whether both are of the pauses
        between batches or of the batches.
        """
        if self._placement and self._preload:
            rhythms = {
                run_id: self._queries.rhythm(run_id)
                for run_id in {unit[0] for unit in self._placement.units}
            }
            room = self._preload.room(
                {
                    run_id: pause_s
                    for run_id, rhythm in rhythms.items()
                    if (pause_s := rhythm.usual_pause_s) is not None
                }
            )
            if room:
                return *room, True
        standby = {
            executor for executor, life in self._memory.lives.items() if life.phase == "standby"
        }
        growing, cold = (
            self._rescaling.phase == "growing",
            bool(self._hosts.keys() - self._held - standby),
        )
        return *self._loads.slack_and_load_s(self._terms.objective_s, growing, cold), False

    def _unready(self) -> set[str]:
        """Return the executors that are not to get state yet: they are being warmed, or have not
        seen a whole batch.

        The first task of a Kafka source and the first state that is loaded are both slow on a new
        executor: not in the same batch.
        """
        number = self._rounds.number
        unready = {
            executor
            for executor, joined in self._joined.items()
            if number is not None and joined is not None and number <= joined
        }
        return unready | self._warming()

    def _warming(self) -> set[str]:
        if self._warmth is None or not self._warmth.available:
            return set()
        return self._joined.keys() - self._warmth.ready() - self._held

    def _carry_out(self, order: Order, passed: Collection[str]) -> None:
        if isinstance(order, Assign):
            self._assign(order.units, passed)
        elif isinstance(order, Request):
            self._executors.request_total(order.total)
        elif isinstance(order, WarmUp):
            self._warm_up(order.executor)
        elif isinstance(order, Hide):
            self._executors.hide(list(order.executors))
        elif isinstance(order, Decommission):
            self._let_go(list(order.executors))
        elif isinstance(order, Kill):
            self._executors.kill(list(order.executors))

    def _warm_up(self, executor: str) -> None:
        if self._warmth and self._warmth.available and executor in self._hosts:
            self._warmth.begin(executor, self._hosts[executor])

    def _let_go(self, executors: list[str]) -> None:
        if not self._terms.graceful:
            self._executors.kill_idle(executors)
            return
        self._executors.decommission(executors)
        for executor in executors:
            self._terms.leaving(executor)

    def _assign(self, units: Mapping[Unit, str], passed: Collection[str]) -> None:
        """Send units now if their query is at a boundary or their executor is lost, else at the
        query's next boundary.
        """
        self._pending.update(units)
        lost = {unit for unit in units if self._holders.get(unit) not in (None, *self._hosts)}
        self._send([unit for unit in units if unit[0] in passed or unit in lost])
        for run_id in {unit[0] for unit in self._pending}:
            self._rounds.postpone(run_id)

    def _send(self, units: Collection[Unit]) -> None:
        sent = {unit: self._pending.pop(unit) for unit in units}
        if not sent or self._placement is None:
            return
        self._placement.assign(sent, self._hosts)
        if self._preload:
            self._preload.begin(sent)
        for run_id in {unit[0] for unit in sent}:
            load = Counter(executor for unit, executor in sent.items() if unit[0] == run_id)
            self._queries.moves(run_id)
            self._loads.sent(run_id, max(load.values()), cold=bool(load.keys() - self._held))

    def _hold_state(self, now: float) -> None:
        """Let no task of a long batch take its state to an executor that has just come and is idle:
        that is for the ramp to do.
        """
        changes = bool(self._placement and self._placement.units) and self._pace.changes(
            self._rescaling.phase, now
        )
        if changes != self._holds:
            self._holds = changes
            self._terms.hold(changes)

    def _hide_preferences(self) -> None:
        """Leave a Kafka source no executor to prefer, from the first arrival on.

        A source task that waits for a cold or leaving executor holds up a batch for
        ``spark.locality.wait``, and that wait cannot be shortened where state is placed. Executors
        that are not warm yet are hidden first: as long as the source prefers the others, they are
        spared its tasks. Those that come later are hidden as they come.
        """
        if not (self._hides and self._placement and self._placement.units):
            return
        if self._hides_newcomers is None:
            self._hides_newcomers = self._executors.hide_newcomers(True)
        lives = self._memory.lives
        new = self._hosts.keys() - lives.keys() if lives else set()
        arriving = (
            new | {executor for executor, life in lives.items() if life.phase in ARRIVING}
        ) - self._held
        if not arriving:
            return
        cold = arriving & self._warming()
        hidden = [
            executor for executor in self._executors.preferred() if not cold or executor in cold
        ]
        if hidden:
            self._hides = self._executors.hide(hidden)
