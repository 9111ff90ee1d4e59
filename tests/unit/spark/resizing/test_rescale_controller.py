from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from rheostat.signals.rhythm import BatchTime, Rhythm
from rheostat.spark.resizing.batch_boundaries import FRESH_S
from rheostat.spark.resizing.conflict_detector import SharedCluster
from rheostat.spark.resizing.locality import TaskHold
from rheostat.spark.resizing.poll_thread import COUNT_S, IDLE_S, POLL_S, RECENT_S, SLOW_S, Pace
from rheostat.spark.resizing.rescale_controller import (
    RECONCILE_S,
    RescaleConfig,
    RescaleController,
)
from rheostat.spark.resizing.state_placement import Placement
from rheostat.spark.sensing.state_stores import Operator

BATCH_S, TRIGGER_S = 1.0, 3.0


class World:
    """An application in memory: executors, queries that run batches, and a coordinator; ``run``
    advances the time.

    A batch lasts a second. In its middle every state task opens its stores on the executor that the
    coordinator names, or on the first one if that is gone, and reports them there."""

    def __init__(
        self,
        executors: int = 2,
        partitions: int = 8,
        queries: tuple[str, ...] = ("q",),
        warmth: Warmth | None = None,
    ) -> None:
        self.hosts_of = {str(n): f"host-{n % 3}" for n in range(executors)}
        self.total, self.born, self.capacity = executors, executors, 99
        self.partitions = partitions
        self.numbers = dict.fromkeys(queries, 0)
        self.rhythms: dict[str, Rhythm] = {}
        self.moving: set[str] = set()
        self.where: dict[tuple[str, int], str] = {}
        self.reports: list[tuple[float, tuple[str, int], str]] = []
        self.hidden: list[str] = []
        self.hides_newcomers: bool | None = None
        self.left: list[str] = []
        self.unreachable = 0
        self.at_leaving: dict[str, int] = {}
        self.calls: Counter[str] = Counter()
        self.orders: list[str] = []
        self.now = 0.0
        self.stubborn: set[tuple[str, int]] = set()
        self.sizes: list[int] = []
        self.loads_in_pauses: tuple[float, float] | None = None
        self.controller = self.hire(warmth)
        self.open_all()

    def hire(
        self,
        warmth: Warmth | None = None,
        places: bool = True,
        ranges: bool = False,
        hold: TaskHold | None = None,
        graceful: bool = True,
        **options: Any,
    ) -> RescaleController:
        world: Any = self
        placement = Placement(world, self.bytes_in if self.sizes else None, ranges, places)
        platform: Any = SimpleNamespace(total=lambda wanted: wanted, nodes=lambda hosts: hosts)
        self.can_decommission = graceful
        cluster = SharedCluster(world, platform, lambda: False)
        config, warming = RescaleConfig(**options), cast("Any", warmth)
        self.preloaded: list[tuple[float, dict[tuple[str, int], str]]] = []
        self.controller = RescaleController(
            cluster, world, world, placement, warming, config, world, hold
        )
        return self.controller

    def begin(self, sent: Mapping[tuple[str, int], str]) -> None:
        self.preloaded.append((self.now, dict(sent)))

    def room(self, pauses_s: Mapping[str, float]) -> tuple[float, float] | None:
        assert all(pause_s == pytest.approx(TRIGGER_S - BATCH_S) for pause_s in pauses_s.values())
        return self.loads_in_pauses

    # executors
    def hosts(self):
        self.calls["hosts"] += 1
        return dict(self.hosts_of)

    def registered(self) -> int:
        return len(self.hosts_of) + self.unreachable

    def requested(self) -> int | None:
        return None

    def preferred(self) -> list[str]:
        return [executor for executor in self.hosts_of if executor not in self.hidden]

    def request_total(self, executors):
        self.total = executors
        return True

    def hide(self, executors):
        self.orders.append(f"hide {','.join(executors)}")
        self.hidden += executors
        return True

    def hide_newcomers(self, hides):
        self.hides_newcomers = hides
        return True

    def decommission(self, executors):
        self.orders.append(f"decommission {','.join(executors)}")
        for executor in executors:
            self.at_leaving[executor] = list(self.where.values()).count(executor)
        self.left += executors

    def kill_idle(self, executors):
        self.orders.append(f"kill idle {','.join(executors)}")
        self.left += executors

    def kill(self, executors):
        self.orders.append(f"kill {','.join(executors)}")
        self.left += executors

    # queries
    def refresh(self):
        return self.numbers.keys()

    def batches(self):
        self.calls["batches"] += 1
        return dict(self.numbers)

    def idle(self, run_id, quiet_s):
        return False

    def rhythm(self, run_id):
        known, number = self.rhythms.get(run_id, Rhythm(trigger_s=TRIGGER_S)), self.numbers[run_id]
        if known.last is None or known.last.number != number:
            known = known.after(BatchTime(number, 0.0, BATCH_S), run_id in self.moving)
            self.moving.discard(run_id)
        self.rhythms[run_id] = known
        return known

    def moves(self, run_id):
        self.moving.add(run_id)

    def state(self, run_id):
        return f"{run_id}/state", (Operator(0, self.partitions, ("default",)),)

    # the coordinator
    def store(self, state_folder, run_id, operator, partition, name):
        return run_id, partition

    def locations(self, stores):
        self.calls["locations"] += 1
        return [self.where.get(store) for store in stores]

    def report(self, store, host, executor):
        assert host == self.hosts_of[executor]
        self.reports.append((self.now, store, executor))
        self.where[store] = executor

    # the checkpoint
    def bytes_in(self, folder):
        self.calls["bytes_in"] += 1
        return self.sizes[int(folder.rpartition("/")[2])]

    # time
    def open_all(self) -> None:
        living = list(self.hosts_of)
        for run_id in self.numbers:
            for partition in range(self.partitions):
                holder = self.where.get((run_id, partition))
                if holder not in living or (run_id, partition) in self.stubborn:
                    self.where[run_id, partition] = living[partition % min(2, len(living))]

    def run(self, seconds: float, target: int | None = None, replace: tuple[str, ...] = ()) -> None:
        """Advance the time; batches end at full seconds, executors register at half seconds and are
        removed at full ones, and a decision is made every two seconds."""
        end = self.now + seconds
        while self.now < end - 1e-9:
            before, self.now = self.now, round(self.now + POLL_S, 3)
            if int(self.now) > int(before):
                self.numbers = {run_id: number + 1 for run_id, number in self.numbers.items()}
                self.hosts_of = {
                    executor: host
                    for executor, host in self.hosts_of.items()
                    if executor not in self.left
                }
                if target is not None and int(self.now) % 2 == 0:
                    self.controller.reconcile(target, replace, self.now)
            if int(self.now + 0.5) > int(before + 0.5):
                self.open_all()
                while len(set(self.hosts_of) - set(self.left)) < self.total and self.capacity:
                    self.hosts_of[str(self.born)] = f"host-{self.born % 3}"
                    self.born, self.capacity = self.born + 1, self.capacity - 1
            self.controller.poll(self.now)

    def shares(self) -> list[int]:
        return sorted(Counter(self.where.values()).values())


class Warmth:
    """Warms given executors until they are released."""

    available = True

    def __init__(self) -> None:
        self.begun: list[tuple[str, str]] = []
        self.done: set[str] = set()
        self.closed = False

    def begin(self, executor, host):
        self.begun.append((executor, host))

    def ready(self):
        return frozenset(self.done)

    def close(self):
        self.closed = True


def test_state_is_distributed_over_new_executors_starting_with_one_partition():
    world = World(executors=2, partitions=12)
    world.run(4, target=2)
    assert world.reports == []
    world.run(20, target=4)
    assert world.shares() == [3, 3, 3, 3]
    assert world.controller.reconcile(4, (), world.now).phase == "steady"
    first = min(when for when, _, _ in world.reports)
    assert sorted(executor for when, _, executor in world.reports if when == first) == ["2", "3"]


def test_all_executors_leave_when_no_query_is_running():
    world = World(executors=3, queries=())
    world.run(30, target=0)
    assert (world.total, world.hosts_of) == (0, {})
    world.run(6, target=2)
    assert (world.total, len(world.hosts_of)) == (2, 2)


def test_no_standby_executor_stays_when_all_are_released():
    world = World(executors=3, queries=())
    world.hire(standby=1, max_executors=8)
    world.run(30, target=0)
    assert (world.total, world.hosts_of) == (0, {})


def test_a_query_that_begins_without_executors_gets_its_state_on_new_ones():
    world = World(executors=2, queries=())
    world.run(30, target=0)
    world.numbers = {"q": 0}
    world.controller.reconcile(2, (), world.now)
    world.hosts_of = {"7": "host-0", "8": "host-1"}
    world.run(30, target=2)
    assert world.shares() == [4, 4]
    assert world.controller.reconcile(2, (), world.now).phase == "steady"


def test_a_new_executor_runs_a_complete_batch_before_it_gets_state():
    world = World(executors=2)
    world.run(4, target=2)
    world.run(12, target=3)
    registered_s = 4.5
    assert [registered_s + 1 < when < registered_s + 3 for when, _, _ in world.reports[:1]] == [
        True
    ]


def test_everything_that_is_sent_can_be_preloaded():
    world = World(executors=2, partitions=12)
    world.run(4, target=2)
    world.run(20, target=4)
    assert world.reports
    assert sorted(
        (when, unit, to) for when, sent in world.preloaded for unit, to in sent.items()
    ) == sorted(world.reports)


def test_state_loaded_in_pauses_moves_in_fewer_steps():
    steps = {}
    for loads_in_pauses in (None, (2.0, 0.1)):
        world = World(executors=2, partitions=24)
        world.run(4, target=2)
        world.loads_in_pauses = loads_in_pauses
        before = len(world.preloaded)
        world.run(20, target=3)
        steps[loads_in_pauses is not None] = [len(sent) for _, sent in world.preloaded[before:]]
        assert world.shares() == [8, 8, 8]
    assert steps[True] == [1, 3, 2, 1, 1]
    assert len(steps[False]) > 3


def test_state_is_sent_immediately_after_a_batch():
    world = World()
    world.run(4, target=2)
    world.run(12, target=4)
    assert world.reports
    assert all(when % 1 < 0.1 for when, _, _ in world.reports)


def test_a_decommissioned_executor_holds_no_state():
    world = World(executors=4)
    world.run(10, target=4)
    world.run(20, target=2)
    assert len(world.hosts_of) == 2
    assert list(world.at_leaving.values()) == [0, 0]
    assert world.shares() == [4, 4]


def test_partitions_of_a_lost_executor_are_reassigned_at_once():
    world = World(executors=4)
    world.run(10, target=4)
    world.run(0.2, target=4)
    lost = [unit for unit, holder in world.where.items() if holder == "3"]
    assert lost
    del world.hosts_of["3"]
    world.capacity = 0
    before = len(world.reports)
    world.run(2 * IDLE_S - 0.9, target=4)
    assert {unit for _, unit, _ in world.reports[before:]} >= set(lost)
    assert "3" not in world.where.values()


def test_a_restarted_query_is_distributed_again():
    world = World(executors=4)
    world.run(10, target=4)
    world.numbers, world.where = {"again": 0}, {}
    world.open_all()
    assert world.shares() == [4, 4]
    world.run(15, target=4)
    assert world.shares() == [2, 2, 2, 2]
    assert {run_id for run_id, _ in world.controller._facts(world.now).holders} == {"again"}


def test_several_queries_are_balanced_together():
    world = World(executors=2, partitions=7, queries=("a", "b"))
    world.run(4, target=2)
    world.run(25, target=4)
    assert world.shares() == [3, 3, 4, 4]


def test_skewed_state_is_balanced_by_bytes_that_are_read_per_target():
    world = World(executors=1, partitions=6)
    world.sizes = [50, 10, 10, 10, 10, 10]
    world.hire()
    world.run(10, target=1)
    assert world.calls["bytes_in"] == 6
    world.run(20, target=2)
    assert world.shares() == [1, 5]
    assert world.calls["bytes_in"] == 2 * 6


def test_ranges_are_contiguous_as_flink_assigns_them():
    world = World(executors=2, partitions=6)
    world.hire(ranges=True)
    world.run(4, target=2)
    world.run(25, target=3)
    assert [world.where["q", partition] for partition in range(6)] == ["0", "0", "1", "1", "2", "2"]
    assert world.controller.reconcile(3, (), world.now).phase == "steady"


def test_misplaced_state_is_moved_back():
    world = World(executors=4)
    world.run(12, target=4)
    assert world.shares() == [2, 2, 2, 2]
    for unit in world.where:
        world.where[unit] = "0"
    world.run(RECONCILE_S + 10, target=4)
    assert world.shares() == [2, 2, 2, 2]


def test_a_steady_controller_polls_rarely():
    world = World(executors=2)
    world.run(10, target=2)
    world.calls.clear()
    world.run(20, target=2)
    assert world.controller.pause_s(world.now) == IDLE_S
    assert world.calls["batches"] <= 20 / 2 + 2
    assert world.calls["locations"] <= 3


@pytest.mark.parametrize(("graceful", "word"), [(True, "decommission"), (False, "kill idle")])
def test_without_placement_hidden_executors_leave_at_the_next_boundary(graceful, word):
    world = World(executors=4)
    world.hire(places=False, graceful=graceful)
    world.run(20, target=2)
    assert world.orders[:2] == ["hide 2,3", f"{word} 2,3"] or world.orders[:2] == [
        "hide 3,2",
        f"{word} 3,2",
    ]
    assert len(world.hosts_of) == 2
    assert world.reports == []


def test_an_executor_gets_state_once_it_is_warm():
    warmth = Warmth()
    world = World(executors=2, warmth=warmth)
    world.run(4, target=2)
    world.run(8, target=3)
    assert warmth.begun == [("2", "host-2")]
    assert "2" not in world.where.values()
    warmth.done.add("2")
    world.run(10, target=3)
    assert world.shares() == [2, 3, 3]


def test_cold_executors_are_hidden_from_sources_first_and_the_others_later():
    warmth = Warmth()
    world = World(executors=2, warmth=warmth)
    warmth.done |= {"0", "1"}
    world.run(4, target=2)
    world.run(6, target=3)
    assert world.preferred() == ["0", "1"]
    warmth.done.add("2")
    world.run(6, target=3)
    assert world.preferred() == []


def test_new_executors_are_hidden_while_state_is_placed_until_the_end():
    world = World(executors=2)
    world.run(2, target=2)
    assert world.hides_newcomers is True
    world.controller.stop()
    assert world.hides_newcomers is False


@pytest.mark.parametrize("options", [{"places": False}, {"hides": False}])
def test_new_executors_are_not_hidden_if_hiding_or_placement_is_off(
    options,
):
    world = World(executors=2)
    world.hire(**options)
    world.run(2, target=2)
    world.controller.stop()
    assert world.hides_newcomers is None


def test_a_reachable_executor_is_hidden_at_the_next_poll():
    warmth = Warmth()
    world = World(executors=2, warmth=warmth)
    warmth.done |= {"0", "1"}
    world.run(4, target=2)
    world.capacity = 0
    world.run(4.25, target=3)
    assert world.controller.pause_s(world.now) == COUNT_S
    world.unreachable = 1
    world.controller.poll(world.now + COUNT_S)
    assert world.controller.pause_s(world.now + COUNT_S) == POLL_S
    world.unreachable, world.hosts_of = 0, {**world.hosts_of, "2": "host-2"}
    world.controller.poll(world.now + COUNT_S + POLL_S)
    assert world.preferred() == ["0", "1"]


def test_an_executor_is_replaced_once_another_holds_its_state():
    world = World(executors=2)
    world.run(4, target=2)
    world.run(30, target=2, replace=("0",))
    assert sorted(world.hosts_of) == ["1", "2"]
    assert world.at_leaving == {"0": 0}


def test_missing_executors_of_the_cluster_are_awaited():
    world = World(executors=2)
    world.capacity = 1
    world.run(12, target=8)
    assert world.controller.reconcile(8, (), world.now).detail.startswith("waiting for 5 of 8")


def test_tasks_wait_longer_for_their_state_during_a_rescale():
    world = World()
    waits: list[str | None] = []
    world.hire(hold=TaskHold(waits.append, longer="10s"))
    world.run(6, target=2)
    waits.clear()
    world.run(20, target=3)
    assert waits == ["10s", None]
    world.run(10, target=3)
    assert waits == ["10s", None]


def test_pending_executors_do_not_prolong_task_waits_forever():
    world = World()
    waits: list[str | None] = []
    world.hire(hold=TaskHold(waits.append, longer="10s"))
    world.capacity = 0
    world.run(RECENT_S + 6, target=4)
    assert waits == ["10s", None]


def test_stopping_during_a_rescale_restores_the_task_wait():
    world = World()
    waits: list[str | None] = []
    world.hire(hold=TaskHold(waits.append, longer="10s"))
    world.run(3, target=4)
    world.controller.stop()
    assert waits == ["10s", None]


def test_a_held_controller_releases_no_executor_until_it_is_resumed():
    world = World(executors=4, partitions=32)
    world.run(10, target=4)
    world.run(2, target=2)
    memory = json.loads(json.dumps(world.controller.reconcile(2, (), world.now).memory))
    world.controller.hold()
    executors = sorted(world.hosts_of)
    for _ in range(400):
        world.now += 0.25
        world.controller.poll(world.now)
    assert sorted(world.hosts_of) == executors
    world.controller.resume(memory, world.now)
    world.run(40, target=2)
    assert world.shares() == [16, 16]


def test_without_placement_task_waits_are_unchanged():
    world = World()
    waits: list[str | None] = []
    world.hire(places=False, hold=TaskHold(waits.append, longer="10s"))
    world.run(10, target=4)
    assert waits == []


def test_long_pending_executors_are_polled_rarely():
    world = World(executors=2)
    world.capacity = 0
    world.run(RECENT_S + 4, target=3)
    world.calls.clear()
    world.run(20, target=3)
    assert world.controller.pause_s(world.now) == IDLE_S
    assert world.calls["batches"] <= 20 / 2 + 2


def test_stopping_also_stops_the_warm_up():
    warmth = Warmth()
    World(warmth=warmth).controller.stop()
    assert warmth.closed


@pytest.mark.parametrize(("ceiling", "total"), [(8, 4), (3, 3)])
def test_standby_executors_exist_above_the_target_and_below_the_ceiling(ceiling, total):
    world = World(executors=2)
    world.hire(standby=2, max_executors=ceiling)
    world.run(20, target=2)
    assert len(world.hosts_of) == total
    assert world.shares() == [4, 4]
    assert world.controller.reconcile(2, (), world.now).phase == "steady"
    assert world.controller.pause_s(world.now) == IDLE_S


def test_a_standby_executor_takes_state_while_its_replacement_starts():
    world = World(executors=2)
    world.hire(standby=1, max_executors=8)
    world.run(20, target=2)
    world.capacity = 0
    world.run(20, target=3)
    assert world.shares() == [2, 3, 3]
    assert world.total == 4


def test_a_standby_executor_does_not_slow_down_moves():
    world = World(executors=4, partitions=32)
    world.hire(standby=1, max_executors=8)
    world.run(30, target=4)
    assert "4" in world.hosts_of
    facts = world.controller._facts(world.now)
    assert facts.load_s is not None
    assert facts.slack_s is not None
    assert facts.load_s < facts.slack_s


def test_a_new_controller_continues_a_scale_in():
    world = World(executors=4, partitions=32)
    world.run(10, target=4)
    world.run(4, target=2)
    memory = json.loads(json.dumps(world.controller.reconcile(2, (), world.now).memory))
    leaving = {
        executor
        for executor, life in memory["lives"].items()
        if life[0] in ("candidate", "emptying")
    }
    assert len(leaving) == 2
    world.hire()
    world.controller.resume(memory, world.now)
    world.run(40, target=2)
    assert world.at_leaving == dict.fromkeys(leaving, 0)
    assert world.shares() == [16, 16]


def test_a_failed_move_is_retried_after_its_rest_with_rare_polls():
    world = World(executors=4)
    world.run(10, target=4)
    stray = next(unit for unit, holder in world.where.items() if holder == "3")
    world.stubborn = {stray}
    world.run(40, target=4)
    assert world.controller.reconcile(4, (), world.now).phase == "blocked"
    assert world.controller.pause_s(world.now) == IDLE_S
    before = len(world.reports)
    world.run(80, target=4)
    assert [unit for _, unit, _ in world.reports[before:]] == [stray]
    world.stubborn = set()
    world.run(80, target=4)
    assert world.controller.reconcile(4, (), world.now).phase == "steady"


def test_a_long_batch_is_polled_rarely_but_its_end_is_noticed():
    pace = Pace()
    pace.note("as it is", 0.0)
    assert [pace.pause_s(True, "growing", now) for now in (1.0, RECENT_S)] == [POLL_S, SLOW_S]
    pace.note("as it is", RECENT_S)
    assert pace.pause_s(True, "growing", RECENT_S) == SLOW_S
    pace.note("otherwise", RECENT_S)
    assert pace.pause_s(True, "growing", RECENT_S) == POLL_S
    assert SLOW_S < FRESH_S


def test_polls_are_rare_before_and_well_after_the_expected_batch_end():
    pace = Pace()
    pace.note("as it is", 10.0)
    pauses_s = [pace.pause_s(True, "growing", now, 11.0) for now in (10.0, 10.9, 11.1, 12.0, 20.0)]
    assert pauses_s == [SLOW_S, pytest.approx(0.1), POLL_S, pytest.approx(0.05), COUNT_S]


def test_pending_executors_are_polled_often_for_a_minute_only():
    pace = Pace()
    pace.note("as it is", 0.0)
    assert [pace.pause_s(False, phase, 1.0) for phase in ("growing", "blocked", "steady")] == [
        COUNT_S,
        IDLE_S,
        IDLE_S,
    ]
    assert pace.pause_s(False, "growing", RECENT_S) == IDLE_S
