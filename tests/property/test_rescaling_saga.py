"""For any behaviour of the cluster, the saga violates no rule and ends at its target, steady and
with evenly placed state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.protocols.executors.executor_lifecycle import LIFE
from rheostat.protocols.executors.executor_states import Facts
from rheostat.protocols.executors.memory import GOING, STAYING, Waits
from rheostat.protocols.executors.transition import Memory, Step, advance
from rheostat.protocols.orders import Assign, Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.protocols.transition_table import first_row
from rheostat.state.assignment import Unit

WAITS = Waits(warm_s=5, empty_s=30, hidden_s=20, leave_s=10, tries=3, rest_s=15, replace_s=40)
PER_BATCH = 2


@dataclass
class Cluster:
    """A miniature cluster and application: executors register and are lost, state moves, spills, or
    is not where it was sent.

    If ``deaf``, orders are not executed; unless ``sticky``, state leaves its assigned executor.
    """

    partitions: int
    warmable: bool = False
    placing: bool = True
    batches: bool = True
    registered: list[str] = field(default_factory=list)
    holders: dict[Unit, str | None] = field(default_factory=dict)
    warm: set[str] = field(default_factory=set)
    leaving: set[str] = field(default_factory=set)
    hidden_at: dict[str, tuple[int | None, float]] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    target: int = 1
    standby: int = 0
    replace: tuple[str, ...] = ()
    total: int = 0
    started: int = 0
    true_s: float = 0.0
    clock_off_s: float = 0.0
    batch: int | None = None
    deaf: bool = False
    sticky: bool = True
    pending: dict[Unit, str] = field(default_factory=dict)

    @property
    def now_s(self) -> float:
        """The time of the controller's clock."""
        return self.true_s + self.clock_off_s

    def facts(self) -> Facts:
        return Facts(
            now_s=self.now_s,
            registered=tuple(self.registered),
            holders=dict(self.holders),
            warm=frozenset(self.warm),
            warmable=self.warmable,
            batch=self.batch,
            slack_s=1.0,
            load_s=1.0 / PER_BATCH,
            placing=self.placing,
        )

    def register(self) -> None:
        self.started += 1
        self.registered.append(str(self.started))

    def lose(self, n: int) -> None:
        if self.registered:
            lost = self.registered.pop(n % len(self.registered))
            self.leaving.discard(lost)
            self.hidden_at.pop(lost, None)

    def run_batch(self) -> None:
        """Run every unit where it was sent or was before, or anywhere if that executor is gone."""
        self.true_s += 1.0
        self.batch = (self.batch or 0) + 1 if self.batches else None
        for unit, executor in self.pending.items():
            if executor in self.registered and self.sticky:
                self.holders[unit] = executor
        self.pending = {}
        able = [executor for executor in self.registered if executor not in self.leaving]
        for unit, holder in self.holders.items():
            if able and holder not in self.registered:
                self.holders[unit] = able[unit[1] % len(able)]
        if not self.holders and able:
            self.holders = {("q", n): able[n % len(able)] for n in range(self.partitions)}

    def spill(self, unit: int, n: int) -> None:
        able = [executor for executor in self.registered if executor not in self.leaving]
        if able and self.holders:
            self.holders["q", unit % self.partitions] = able[n % len(able)]

    def quiet(self) -> None:
        """Let a second pass in a healthy cluster: decommissioned executors are removed, a missing
        one registers, warm-ups end, a batch runs."""
        self.registered = [executor for executor in self.registered if executor not in self.leaving]
        self.leaving = set()
        if len(self.registered) < self.total:
            self.register()
        self.warm = set(self.registered)
        self.run_batch()

    def step(self) -> Step:
        """Let the controller take a step after a restart through JSON, check its orders, and
        execute them."""
        facts, before = self.facts(), self.memory
        step = advance(
            Memory.from_json(json.loads(json.dumps(before.to_json()))),
            facts,
            self.target,
            self.replace,
            self.standby,
            WAITS,
        )
        assert step == advance(before, facts, self.target, self.replace, self.standby, WAITS)
        self.replace = ()
        self._check(step, facts, before)
        self.memory = step.memory
        if not self.deaf:
            for order in step.orders:
                self._carry_out(order)
        return step

    def _carry_out(self, order: Order) -> None:
        if isinstance(order, Request):
            self.total = order.total
        elif isinstance(order, Assign):
            self.pending.update(order.units)
            if self.sticky:
                self.holders.update(order.units)
        elif isinstance(order, Hide):
            self.hidden_at.update(dict.fromkeys(order.executors, (self.batch, self.true_s)))
        elif isinstance(order, Decommission):
            self.leaving |= set(order.executors)
        elif isinstance(order, Kill):
            self.registered = [
                executor for executor in self.registered if executor not in order.executors
            ]
            self.leaving -= set(order.executors)

    def _check(self, step: Step, facts: Facts, before: Memory) -> None:
        """Check the invariants of every step, for any history."""
        lives = step.memory.lives
        staying = [executor for executor, life in lives.items() if life.phase in STAYING]
        assert lives.keys() == set(facts.registered)
        assert len(standing_by(step)) <= self.standby + len(step.memory.replacing)
        assert len(staying) - len(standing_by(step)) >= min(self.target, len(staying))
        assert len(staying) >= min(self.target, len(facts.registered) - self._gone_for_good(before))
        for order in step.orders:
            assert concerned(order) <= set(facts.registered)
            if isinstance(order, Request):
                assert (
                    self.target
                    <= order.total - self.standby
                    <= self.target + len(step.memory.replacing)
                )
            if isinstance(order, Assign):
                self._check_assign(
                    order.units,
                    facts,
                    before,
                    [executor for executor in staying if executor not in standing_by(step)],
                )
            if isinstance(order, Hide):
                for executor in order.executors:
                    assert (
                        self._holds_none(executor)
                        or self.now_s - before.lives[executor].since_s >= WAITS.empty_s
                    )
            if isinstance(order, Decommission):
                for executor in order.executors:
                    self._check_decommission(executor, before)

    def _gone_for_good(self, before: Memory) -> int:
        """Return the executors that were hidden or requested to leave before this step and are
        still registered: that is irreversible."""
        return sum(
            life.phase in GOING and executor in self.registered
            for executor, life in before.lives.items()
        )

    def _check_decommission(self, executor: str, before: Memory) -> None:
        if before.lives[executor].phase == "leaving":  # a repeated request
            return
        overdue = self.now_s - before.lives[executor].since_s >= WAITS.hidden_s
        assert before.lives[executor].phase == "hidden"
        assert overdue or self._holds_none(executor)
        if executor in self.hidden_at:
            batch, at_s = self.hidden_at[executor]
            assert overdue or self.batch != batch or self.true_s - at_s >= WAITS.idle_s

    def _check_assign(
        self, units: Mapping[Unit, str], facts: Facts, before: Memory, staying: list[str]
    ) -> None:
        boundary = facts.batch != before.batch or facts.batch is None
        homeless = {unit for unit in units if facts.holders[unit] not in facts.registered}
        assert set(units.values()) <= set(staying)
        assert boundary or set(units) == homeless
        received = [executor for unit, executor in units.items() if unit not in homeless]
        assert all(received.count(executor) <= PER_BATCH for executor in received)
        assert all(facts.holders[unit] != executor for unit, executor in units.items())

    def _holds_none(self, executor: str) -> bool:
        return not self.placing or executor not in self.holders.values()


def standing_by(step: Step) -> list[str]:
    """Return the executors in standby."""
    return [executor for executor, life in step.memory.lives.items() if life.phase == "standby"]


def concerned(order: Order) -> set[str]:
    """Return the executors that an order names."""
    if isinstance(order, Request):
        return set()
    if isinstance(order, WarmUp):
        return {order.executor}
    return set(order.units.values()) if isinstance(order, Assign) else set(order.executors)


HAPPENS = (
    "batch",
    "batch",
    "batch",
    "batch",
    "quiet",
    "register",
    "lose",
    "leave",
    "warm",
    "target",
    "target",
)
DISTURBS = (
    "replace",
    "spill",
    "spill",
    "wait",
    "clock",
    "deaf",
    "slippery",
    "slippery",
    "forget",
    "placing",
    "standby",
    "restart",
)
events = st.tuples(
    st.sampled_from(HAPPENS) | st.sampled_from(HAPPENS + DISTURBS), st.integers(0, 7)
)
worlds = st.builds(
    Cluster,
    partitions=st.integers(0, 12),
    standby=st.integers(0, 3),
    warmable=st.booleans(),
    placing=st.integers(0, 4).map(bool),
    batches=st.integers(0, 4).map(bool),
)


def happen(cluster: Cluster, event: str, n: int) -> None:
    """Apply one event; ``n`` selects its target or its extent."""
    able = sorted(cluster.leaving)
    if event == "register" and len(cluster.registered) < 8:
        cluster.register()
    elif event == "lose":
        cluster.lose(n)
    elif event == "leave" and able:
        cluster.registered.remove(able[n % len(able)])
        cluster.leaving.remove(able[n % len(able)])
    elif event == "warm":
        cluster.warm |= set(cluster.registered[n:])
    elif event == "batch":
        cluster.run_batch()
    elif event == "quiet":
        cluster.quiet()
    elif event == "target":
        cluster.target = n + 1
    elif event == "replace" and cluster.registered:
        cluster.replace = (cluster.registered[n % len(cluster.registered)], "never seen")
    elif event == "spill":
        cluster.spill(n, n // 2)
    elif event == "wait":
        cluster.true_s += 5.0 * n
    elif event == "clock":
        cluster.clock_off_s -= 10.0 * n  # the clock is set back
    elif event in ("deaf", "slippery", "forget", "placing", "standby", "restart"):
        disturb(cluster, event, n)


def disturb(cluster: Cluster, event: str, n: int) -> None:
    """Break or repair something."""
    cluster.deaf = n < 4 if event == "deaf" else cluster.deaf
    cluster.sticky = n >= 4 if event == "slippery" else cluster.sticky
    cluster.placing = n >= 2 if event == "placing" else cluster.placing
    cluster.memory = Memory() if event == "forget" and n == 0 else cluster.memory
    cluster.standby = n // 2 if event == "standby" else cluster.standby
    cluster.memory = cluster.memory.resumed(cluster.now_s) if event == "restart" else cluster.memory


def run_until_steady(cluster: Cluster, seconds: int = 400) -> Step:
    """Repair everything and let the cluster run until the saga reports that it is steady."""
    cluster.deaf, cluster.sticky = False, True
    for _ in range(seconds):
        cluster.quiet()
        step = cluster.step()
        if step.rescaling.phase == "steady" and "waiting" not in step.rescaling.detail:
            return step
    raise AssertionError(f"not steady after {seconds} s: {step.rescaling}, {cluster}")


@settings(max_examples=150, deadline=None)
@given(cluster=worlds, executors=st.integers(0, 4), happened=st.lists(events, max_size=60))
def test_no_invariant_is_violated_and_the_final_state_is_steady_and_even(
    cluster, executors, happened
):
    for _ in range(executors):
        cluster.register()
    cluster.run_batch()
    for event, n in happened:
        happen(cluster, event, n)
        cluster.step()
    rested = run_until_steady(cluster)
    idle = standing_by(rested)
    assert (len(cluster.registered), len(idle)) == (
        cluster.target + cluster.standby,
        cluster.standby,
    )
    assert {
        life.phase for executor, life in rested.memory.lives.items() if executor not in idle
    } == {"ready"}
    if cluster.placing:
        counts = [
            list(cluster.holders.values()).count(executor)
            for executor in cluster.registered
            if executor not in idle
        ]
        assert sum(counts) == len(cluster.holders)
        assert max(counts) - min(counts) <= 1
    cluster.quiet()
    assert cluster.step().orders == (Request(cluster.target + cluster.standby),)


def test_every_row_of_the_lifecycle_is_reached(monkeypatch):
    taken = set()

    def recorded(*facts):
        row = first_row(*facts)
        taken.add(row)
        return row

    monkeypatch.setattr("rheostat.protocols.executors.executor_states.first_row", recorded)
    for seed in range(200):
        drawn = Random(seed)
        cluster = Cluster(partitions=8, warmable=seed % 2 == 0, standby=seed % 3)
        for _ in range(60):
            happen(cluster, drawn.choice((*HAPPENS, *DISTURBS)), drawn.randrange(8))
            cluster.step()
        cluster.target, cluster.standby, cluster.deaf = 1, 0, True
        for _ in range(10):  # no executor is removed, so everything is late
            cluster.true_s += 40.0
            cluster.run_batch()
            cluster.step()
        if taken.issuperset(LIFE.rows):
            return
    assert not {row.cells()[:2] for row in LIFE.rows if row not in taken}
