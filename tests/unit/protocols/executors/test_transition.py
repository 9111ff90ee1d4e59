"""The protocols as sequences of facts, with the orders and messages of the saga."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from rheostat.model import Rescaling
from rheostat.protocols.executors.executor_states import Facts
from rheostat.protocols.executors.memory import Waits
from rheostat.protocols.executors.transition import Memory, advance
from rheostat.protocols.orders import Assign, Decommission, Hide, Kill, Order, Request, WarmUp
from rheostat.state.assignment import Unit


@dataclass
class Scenario:
    """A controller and its facts; ``at`` is the executor of the partitions 0, 1, 2, ... of one
    query."""

    at: list[str | None]
    registered: tuple[str, ...] = ("1", "2")
    target: int = 2
    standby: int = 0
    memory: Memory = field(default_factory=Memory)
    now_s: float = 100.0
    batch: int | None = 0
    signals: Mapping[str, Any] = field(default_factory=dict)
    report: Rescaling = field(default_factory=lambda: Rescaling(phase="steady"))

    def step(self, replace: Collection[str] = (), **signals: Any) -> tuple[Order, ...]:
        """Take a step half a second later and return the orders except the request for the target;
        assignments persist."""
        self.now_s += 0.5
        holders: dict[Unit, str | None] = {("q", n): executor for n, executor in enumerate(self.at)}
        known = {"slack_s": 20.0, "load_s": 1.0, **self.signals, **signals}
        facts = Facts(
            now_s=self.now_s, registered=self.registered, holders=holders, batch=self.batch, **known
        )
        advanced = advance(self.memory, facts, self.target, replace, self.standby)
        self.memory, self.report = advanced.memory, advanced.rescaling
        for order in advanced.orders:
            if isinstance(order, Assign):
                for (_, partition), executor in order.units.items():
                    self.at[partition] = executor
        return tuple(
            order for order in advanced.orders if order != Request(self.target + self.standby)
        )

    def after_batch(self, **signals: Any) -> tuple[Order, ...]:
        """End a batch, then take a step."""
        self.batch = (self.batch or 0) + 1
        return self.step(**signals)

    def phases(self) -> dict[str, str]:
        return {executor: life.phase for executor, life in self.memory.lives.items()}


def ready_scenario(
    *at: str | None, registered: tuple[str, ...] = ("1", "2"), **signals: Any
) -> Scenario:
    """Return a scenario that starts with ready executors."""
    scenario = Scenario(list(at), registered, len(registered), signals=signals)
    scenario.step()
    scenario.after_batch()
    assert set(scenario.phases().values()) == {"ready"}
    assert scenario.report == Rescaling(phase="steady")
    return scenario


def units(**to: str) -> dict[Unit, str]:
    """Return units from p3="1"."""
    return {("q", int(name[1:])): executor for name, executor in to.items()}


def test_initial_executors_are_accepted_without_warm_up():
    scenario = Scenario(["1", "1", "2", "2"])
    assert scenario.step(warmable=True) == ()
    assert scenario.phases() == {"1": "warm", "2": "warm"}


def test_scale_out_requests_warms_assigns_and_verifies():
    scenario = ready_scenario("1", "1", "1", "2", "2", "2", warmable=True)
    scenario.target = 3
    assert scenario.step() == ()
    assert scenario.report == Rescaling(phase="growing", detail="waiting for 1 of 3 executors")
    scenario.registered = ("1", "2", "3")
    assert scenario.step() == (WarmUp("3"),)
    assert scenario.report == Rescaling(phase="growing", detail="warming executor 3")
    assert scenario.after_batch() == ()
    assert scenario.step(warm=frozenset({"3"})) == ()
    assert scenario.phases()["3"] == "warm"
    assert scenario.after_batch() == (Assign(units(p2="3", p5="3")),)
    assert scenario.report == Rescaling(phase="growing", detail="moving 2 partitions to executor 3")
    assert scenario.step() == ()
    assert scenario.phases()["3"] == "assigned"
    assert scenario.report == Rescaling(
        phase="growing", detail="executor 3 to be verified when a batch has ended"
    )
    assert scenario.after_batch() == ()
    assert scenario.report == Rescaling(phase="steady")


def test_the_target_is_requested_in_every_step():
    scenario = ready_scenario("1", "2")
    for target in (2, 5, 3):
        advanced = advance(
            scenario.memory, Facts(now_s=1.0, registered=scenario.registered), target
        )
        assert advanced.orders[0] == Request(target)


def test_available_executors_become_ready_while_others_are_awaited():
    scenario = ready_scenario(*"12345123", registered=tuple("12345"))
    scenario.target = 8
    scenario.after_batch()
    assert set(scenario.phases().values()) == {"ready"}
    assert scenario.report == Rescaling(phase="growing", detail="waiting for 3 of 8 executors")


def test_an_overdue_warm_up_ends_after_its_timeout():
    scenario = ready_scenario("1", "1", "2", "2", warmable=True)
    scenario.registered, scenario.target = ("1", "2", "3"), 3
    scenario.step()
    scenario.now_s += Waits().warm_s
    scenario.step()
    assert scenario.phases()["3"] == "warm"


def test_an_executor_that_already_holds_state_is_warm():
    scenario = ready_scenario("1", "1", "2", "2", warmable=True)
    scenario.registered, scenario.target = ("1", "2", "3"), 3
    scenario.step()
    scenario.at[0] = "3"
    scenario.step()
    assert scenario.phases()["3"] == "warm"


def test_the_first_executors_take_state_without_warm_up():
    scenario = ready_scenario("1", "1", registered=("1",), warmable=True)
    scenario.registered = ("2", "3")
    scenario.target = 2
    assert scenario.step() == (Assign(units(p0="2", p1="3")),)


def test_scale_in_moves_state_verifies_hides_and_decommissions():
    scenario = ready_scenario(*"11122233", registered=tuple("123"))
    scenario.target = 2
    assert scenario.step() == ()
    assert scenario.report == Rescaling(
        phase="shrinking", detail="emptying executor 3: 2 of 2 partitions left"
    )
    assert scenario.after_batch() == (Assign(units(p6="1", p7="2")),)
    assert scenario.report == Rescaling(
        phase="shrinking", detail="emptying executor 3: 2 of 2 partitions left"
    )
    assert scenario.step() == ()
    assert scenario.after_batch() == (Hide(("3",)),)
    assert scenario.step() == ()
    assert scenario.report == Rescaling(phase="shrinking", detail="executor 3 is leaving")
    assert scenario.after_batch() == (Decommission(("3",)),)
    assert scenario.after_batch() == ()
    scenario.registered = ("1", "2")
    assert scenario.after_batch() == ()
    assert scenario.report == Rescaling(phase="steady")


def test_the_draining_candidate_has_the_least_weight_and_then_the_shortest_age():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target = 2
    scenario.step()
    assert [executor for executor, phase in scenario.phases().items() if phase == "candidate"] == [
        "3"
    ]
    scenario = ready_scenario(
        *"112233",
        registered=tuple("123"),
        weights={("q", n): 9.0 if n != 1 else 1.0 for n in range(6)},
    )
    scenario.target = 2
    scenario.step()
    assert [executor for executor, phase in scenario.phases().items() if phase == "candidate"] == [
        "1"
    ]


def test_a_candidate_is_emptied_only_as_fast_as_the_slack_allows():
    scenario = ready_scenario(*"1111222233334444", registered=tuple("1234"), slack_s=3.8)
    scenario.target = 2
    moved = [
        len(order.units)
        for _ in range(6)
        for order in scenario.after_batch()
        if isinstance(order, Assign)
    ]
    assert moved == [2, 2, 2, 2]


def test_a_hidden_executor_that_regained_state_is_not_decommissioned():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target = 2
    for _ in range(2):
        hidden = scenario.after_batch()
    assert hidden == (Hide(("3",)),)
    scenario.at[5] = "3"
    assert scenario.after_batch() == (Assign(units(p5="2")),)
    assert scenario.phases()["3"] == "hidden"
    assert scenario.after_batch() == (Decommission(("3",)),)


def test_a_candidate_that_cannot_be_emptied_leaves_after_the_timeout_with_a_message():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target = 2
    scenario.after_batch()
    for _ in range(3):
        scenario.at[4] = scenario.at[5] = "3"
        assert not any(isinstance(order, Hide) for order in scenario.after_batch())
    scenario.at[4] = scenario.at[5] = "3"
    scenario.now_s += Waits().empty_s
    assert Hide(("3",)) in scenario.after_batch()
    scenario.at[4] = scenario.at[5] = "3"
    scenario.step()
    assert (
        "executor 3 is leaving with 2 partitions that did not move away" in scenario.report.detail
    )


def test_every_moved_partition_restarts_the_timeout():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target = 2
    scenario.after_batch()
    scenario.at[4], scenario.at[5] = "1", "3"
    scenario.now_s += Waits().empty_s - 1
    scenario.after_batch()
    scenario.at[5] = "3"
    scenario.now_s += Waits().empty_s - 1
    assert not any(isinstance(order, Hide) for order in scenario.after_batch())


def test_an_executor_that_does_not_leave_is_decommissioned_again_and_then_killed():
    scenario = ready_scenario(*"1122", registered=tuple("12"))
    scenario.target = 1
    for _ in range(4):
        scenario.after_batch()
    assert scenario.phases()["2"] == "leaving"
    for order in (Decommission(("2",)), Kill(("2",)), Kill(("2",))):
        scenario.now_s += Waits().leave_s
        assert scenario.step() == (order,)


@pytest.mark.parametrize("emptied", [False, True])
def test_a_higher_target_retains_a_draining_executor(emptied):
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target = 2
    scenario.step()
    if emptied:
        scenario.after_batch()
    assert scenario.phases()["3"] == ("emptying" if emptied else "candidate")
    scenario.target = 3
    scenario.step()
    assert scenario.phases()["3"] == "warm"
    for _ in range(2):
        scenario.after_batch()
    assert (scenario.report.phase, sorted(map(str, scenario.at))) == ("steady", [*"112233"])


def test_the_draining_executor_with_the_most_state_is_retained_unless_it_is_replaced():
    scenario = ready_scenario(*"111222333", registered=tuple("123"))
    scenario.at = [*"111222233"]
    scenario.target = 1
    scenario.step()
    scenario.target = 2
    scenario.step()
    assert scenario.phases() == {"1": "warm", "2": "ready", "3": "candidate"}
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target = 1
    scenario.step(replace=["2"])
    assert scenario.phases() == {"1": "ready", "2": "candidate", "3": "candidate"}
    scenario.at[5] = "2"
    scenario.target = 2
    scenario.step()
    assert scenario.phases() == {"1": "ready", "2": "candidate", "3": "warm"}


def test_a_hidden_executor_leaves_even_if_the_target_rises():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target = 2
    for _ in range(2):
        scenario.after_batch()
    scenario.target = 3
    assert scenario.after_batch() == (Decommission(("3",)),)
    assert scenario.report.detail == "waiting for 1 of 3 executors; executor 3 is leaving"


def test_state_of_a_lost_executor_is_assigned_at_once_and_only_once():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.registered = ("1", "2")
    assert scenario.step() == (Assign(units(p4="1", p5="2")),)
    scenario.at[4] = scenario.at[5] = "3"  # the order was not executed
    assert [scenario.step(), scenario.step()] == [(), ()]
    assert scenario.after_batch() == (Assign(units(p4="1", p5="2")),)
    assert scenario.report.phase == "growing"


def test_misplaced_state_is_moved_back():
    scenario = ready_scenario(*"1122")
    scenario.at[0] = "2"
    assert scenario.step() == ()
    assert scenario.after_batch() == (Assign(units(p0="1")),)
    assert scenario.report == Rescaling(
        phase="balancing", detail="moving 1 partition to executor 1"
    )


def test_a_failing_assignment_is_reported_after_four_tries_and_retried_later():
    scenario = ready_scenario(*"1122")
    tried = 0
    for _ in range(8):
        scenario.at[0] = "2"
        tried += len(scenario.after_batch())
    assert tried == Waits().tries
    assert scenario.report == Rescaling(
        phase="blocked",
        detail="1 partition did not stay on executor 1 after 4 tries, again every 60 s",
    )
    scenario.now_s += Waits().rest_s
    assert scenario.after_batch() == (Assign(units(p0="1")),)
    scenario.step()
    assert scenario.phases()["1"] == "rebalancing"
    scenario.after_batch()
    assert scenario.report == Rescaling(phase="steady")


def test_only_consecutive_failures_count():
    scenario = ready_scenario(*"11112222", slack_s=1.0)
    for stays in (False, False, False, True, False, False, False):
        scenario.at[:4] = [*"1222"] if stays else [*"2222"]
        scenario.after_batch()
    assert scenario.phases()["1"] == "rebalancing"


def test_a_success_resets_the_number_of_tries():
    scenario = ready_scenario(*"1122")
    for _ in range(6):
        scenario.at[0] = "2"
        scenario.after_batch()
    assert scenario.phases()["1"] == "stuck"
    scenario.at[0] = "1"
    scenario.after_batch()
    assert scenario.report == Rescaling(phase="steady")
    for _ in range(Waits().tries):
        scenario.at[0] = "2"
        scenario.after_batch()
    assert scenario.phases()["1"] == "rebalancing"


def test_a_stuck_executor_still_accepts_state_of_a_leaving_one():
    scenario = ready_scenario(*"111222333", registered=tuple("123"))
    for _ in range(6):
        scenario.at[0] = "2"
        scenario.after_batch()
    assert scenario.phases()["1"] == "stuck"
    scenario.at, scenario.target = [*"211222223"], 2
    assert scenario.after_batch() == (Assign(units(p8="1")),)


def test_state_of_leaving_executors_moves_before_misplaced_state():
    scenario = ready_scenario(*"111122223333", registered=tuple("123"), slack_s=1.0)
    scenario.at = [*"111222222233"]
    scenario.target = 2
    assert scenario.after_batch() == (Assign(units(p10="1")),)


def test_placements_unknown_during_a_batch_are_read_again_at_its_end():
    scenario = ready_scenario(*"1212")
    scenario.registered, scenario.target = ("1", "2", "3"), 3
    known, scenario.at = scenario.at, [None] * 4
    scenario.step()
    scenario.at = known
    assert scenario.after_batch() == (Assign(units(p3="3")),)


def test_changed_weights_alone_move_nothing():
    scenario = ready_scenario(*"1122")
    assert scenario.after_batch(weights={("q", n): 1.0 + 100 * (n < 2) for n in range(4)}) == ()


def test_a_replacement_becomes_ready_before_the_old_executor_leaves():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    assert scenario.step(replace=["2"]) == (Request(4),)
    assert scenario.report.detail == "waiting for 1 of 4 executors to replace executor 2"
    scenario.registered = tuple("1234")
    assert scenario.step() == (Request(4),)  # requested once, then remembered
    assert scenario.after_batch() == (Request(4), Assign(units(p2="4", p3="4")))
    assert scenario.after_batch() == (Request(4),)
    assert scenario.phases()["4"] == "ready"
    assert scenario.after_batch() == ()  # now it is the one to remove
    assert scenario.after_batch() == (Hide(("2",)),)
    assert scenario.after_batch() == (Decommission(("2",)),)
    scenario.registered = tuple("134")
    scenario.after_batch()
    assert scenario.report == Rescaling(phase="steady")
    assert scenario.memory.replacing == {}


def test_a_replacement_that_registered_in_time_may_finish_its_warm_up():
    scenario = ready_scenario(*"1122", warmable=True)
    scenario.step(replace=["2"])
    scenario.now_s += Waits().replace_s - 2
    scenario.registered = ("1", "2", "3")
    assert scenario.step() == (Request(3), WarmUp("3"))
    scenario.now_s += 3
    assert scenario.step() == (Request(3),)


def test_a_permanently_requested_replacement_is_retried_after_a_rest():
    scenario = ready_scenario(*"1122")
    orders_by_step = [
        scenario.step(replace=["2"]) for _ in range(round(3 * Waits().replace_s / 0.5))
    ]
    third = round(Waits().replace_s / 0.5)
    assert [
        sum(orders == (Request(3),) for orders in orders_by_step[n : n + third])
        for n in (0, third, 2 * third)
    ] == [third, 0, third]


def test_a_replacement_without_a_new_executor_is_abandoned_and_reported():
    scenario = ready_scenario(*"1122")
    assert scenario.step(replace=["2"]) == (Request(3),)
    scenario.now_s += Waits().replace_s
    assert scenario.step(replace=["2"]) == ()
    assert scenario.report == Rescaling(
        phase="steady", detail="executor 2 not replaced: no successor started within 300 s"
    )
    scenario.now_s += Waits().replace_s
    assert scenario.step() == ()
    assert scenario.report == Rescaling(phase="steady")


def test_an_executor_to_be_replaced_is_removed_first_when_the_target_falls():
    scenario = ready_scenario(*"1112233", registered=tuple("123"))
    scenario.target = 2
    scenario.step(replace=["1"])
    assert scenario.phases() == {"1": "candidate", "2": "ready", "3": "ready"}


def test_without_placement_executors_are_ready_and_candidates_empty_at_once():
    scenario = ready_scenario(*"1122", placing=False)
    scenario.registered, scenario.target = ("1", "2", "3"), 3
    assert scenario.step(warmable=True) == ()
    assert scenario.report == Rescaling(phase="steady")
    scenario.target = 2
    assert scenario.step() == (Hide(("3",)),)
    assert scenario.step() == ()
    assert scenario.after_batch() == (Decommission(("3",)),)


def test_without_batches_one_second_is_a_boundary():
    scenario = Scenario([], registered=("1", "2"), target=1, batch=None, signals={"placing": False})
    assert scenario.step() == (Hide(("2",)),)
    assert scenario.step() == ()
    assert scenario.step() == (Decommission(("2",)),)


def test_executors_registered_after_an_empty_first_step_are_accepted():
    scenario = Scenario([], registered=(), signals={"warmable": True})
    scenario.step()
    scenario.registered = ("1", "2")
    assert scenario.step() == ()
    assert set(scenario.phases().values()) == {"ready"}
    assert scenario.report == Rescaling(phase="steady")


def test_a_clock_set_back_prolongs_no_timeout():
    scenario = ready_scenario(*"1122", warmable=True)
    scenario.registered, scenario.target = ("1", "2", "3"), 3
    scenario.step()
    scenario.now_s -= 1000
    scenario.step()
    scenario.now_s += Waits().warm_s
    scenario.step()
    assert scenario.phases()["3"] == "warm"
    replacing = ready_scenario(*"1122")
    replacing.step(replace=["2"])
    replacing.now_s -= 1000
    replacing.step()
    replacing.now_s += Waits().replace_s
    assert replacing.step() == ()
    idle = Scenario([], registered=("1", "2"), target=1, batch=None, signals={"placing": False})
    idle.step()
    idle.now_s -= 1000
    assert [idle.step(), idle.step(), idle.step()] == [(), (), (Decommission(("2",)),)]


def test_a_new_query_is_distributed_by_the_sum_over_all_queries():
    scenario = ready_scenario(*"1122")
    scenario.at += ["1", "1", "1", "1"]
    assert scenario.after_batch() == (Assign(units(p6="2", p7="2")),)


def test_surplus_slots_are_reported_with_the_sufficient_number_of_partitions():
    scenario = ready_scenario(*"1122")
    scenario.after_batch(slots_per_executor=4)
    assert scenario.report == Rescaling(
        phase="steady", detail="4 state partitions cannot use 8 slots: 8 or more partitions would"
    )


def test_an_oversized_partition_moves_alone_and_is_reported():
    scenario = ready_scenario(*"1122", registered=("1", "2"), slack_s=0.8, load_s=2.0)
    scenario.at[0] = scenario.at[1] = "2"
    assert scenario.after_batch() == (Assign(units(p0="1")),)
    impact = (
        "one state partition takes 2.0 s to load, a batch has 0.8 s to spare: its move will delay"
        " a batch"
    )
    assert scenario.report.detail == f"moving 2 partitions to executor 1; {impact}"


def test_a_controller_without_its_memory_changes_nothing():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.memory = Memory()
    assert [scenario.step(), scenario.after_batch(), scenario.after_batch()] == [(), (), ()]
    assert scenario.report == Rescaling(phase="steady")


def with_standby(
    *at: str | None, registered: tuple[str, ...] = ("1", "2", "3"), **signals: Any
) -> Scenario:
    """Return a scenario that starts with ready executors, the last of them in standby."""
    scenario = ready_scenario(*at, registered=registered[:-1], **signals)
    scenario.standby, scenario.registered = 1, registered
    scenario.step(warm=frozenset(registered))
    scenario.step(warm=frozenset(registered))
    assert scenario.phases()[registered[-1]] == "standby"
    return scenario


def test_a_standby_executor_is_requested_and_warmed_but_gets_no_state():
    scenario = ready_scenario("1", "1", "2", "2", warmable=True)
    scenario.standby = 1
    assert Request(3) not in scenario.step()  # the scenario omits the expected request
    assert scenario.report == Rescaling(
        phase="steady", detail="waiting for 1 of 1 standby executors"
    )
    scenario.registered = ("1", "2", "3")
    assert scenario.step() == (WarmUp("3"),)
    assert scenario.step(warm=frozenset({"3"})) == ()
    assert [scenario.after_batch(), scenario.after_batch()] == [(), ()]
    assert scenario.phases()["3"] == "standby"
    assert scenario.report == Rescaling(phase="steady", detail="executor 3 stands by")


def test_a_higher_target_uses_the_standby_executor_and_starts_another():
    scenario = with_standby(*"111222", warmable=True)
    scenario.target = 3
    assert scenario.after_batch() == (Assign(units(p2="3", p5="3")),)
    assert (
        scenario.report.detail
        == "waiting for 1 of 1 standby executors; moving 2 partitions to executor 3"
    )
    scenario.registered = tuple("1234")
    assert scenario.after_batch() == (WarmUp("4"),)
    scenario.after_batch(warm=frozenset({"4"}))
    assert scenario.report == Rescaling(phase="steady", detail="executor 4 stands by")


def test_a_cold_executor_does_not_delay_the_standby_executor():
    scenario = with_standby(*"111222", warmable=True)
    scenario.target, scenario.registered = 3, tuple("1234")
    scenario.step()
    assert (scenario.phases()["3"], scenario.phases()["4"]) == ("warm", "warming")


def test_a_lower_target_removes_an_active_executor_and_keeps_the_standby():
    scenario = with_standby(*"112233", registered=tuple("1234"))
    scenario.target = 2
    scenario.step()
    assert scenario.phases() == {"1": "ready", "2": "ready", "3": "candidate", "4": "standby"}
    assert scenario.after_batch() == (Assign(units(p4="1", p5="2")),)
    assert scenario.after_batch() == (Hide(("3",)),)


def test_an_emptied_executor_fills_a_missing_standby():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target, scenario.standby = 2, 1
    assert scenario.step() == ()
    assert scenario.after_batch() == (Assign(units(p4="1", p5="2")),)
    assert scenario.after_batch() == ()
    assert scenario.report == Rescaling(phase="steady", detail="executor 3 stands by")


def test_fewer_standby_executors_remove_only_standby_executors():
    scenario = with_standby(*"1122")
    scenario.standby = 0
    assert scenario.step() == ()
    assert scenario.phases() == {"1": "ready", "2": "ready", "3": "candidate"}
    assert scenario.after_batch() == (Hide(("3",)),)


def test_state_of_a_lost_executor_moves_to_the_standby_at_once():
    scenario = with_standby(*"1122")
    scenario.registered = ("1", "3")
    assert scenario.step() == (Assign(units(p2="3", p3="3")),)


def test_the_standby_replaces_an_executor():
    scenario = with_standby(*"1122")
    assert scenario.step(replace=["2"]) == (Request(4),)
    assert scenario.after_batch() == (Request(4), Assign(units(p2="3", p3="3")))
    scenario.after_batch()
    scenario.step()
    assert scenario.phases() == {"1": "ready", "2": "candidate", "3": "ready"}
    assert scenario.after_batch() == (Hide(("2",)),)


def test_a_draining_executor_is_retained_before_the_standby_is_used():
    scenario = with_standby(*"112233", registered=tuple("1234"))
    scenario.target = 2
    scenario.step()
    scenario.target = 3
    scenario.step()
    assert scenario.phases() == {"1": "ready", "2": "ready", "3": "warm", "4": "standby"}


def test_state_misplaced_on_the_standby_is_moved_back():
    scenario = with_standby(*"1122")
    scenario.at[0] = "3"
    assert scenario.after_batch() == (Assign(units(p0="1")),)
    scenario.after_batch()
    assert (scenario.phases()["3"], scenario.report.phase) == ("standby", "steady")


def test_a_controller_without_its_memory_recognizes_the_standby():
    scenario = with_standby(*"1122")
    scenario.memory = Memory()
    assert [scenario.step(), scenario.after_batch()] == [(), ()]
    assert scenario.phases() == {"1": "ready", "2": "ready", "3": "standby"}


def test_a_new_controller_continues_a_scale_in():
    scenario = ready_scenario(*"112233", registered=tuple("123"))
    scenario.target = 2
    scenario.after_batch()
    scenario.now_s += Waits().empty_s  # without an observation meanwhile
    scenario.memory, scenario.batch = scenario.memory.resumed(scenario.now_s), 0
    assert scenario.step() == ()  # the first observation may fall anywhere within a batch
    assert scenario.after_batch() == (Hide(("3",)),)


def test_the_standby_takes_all_state_if_every_active_executor_is_lost():
    scenario = with_standby(*"1122", warmable=True)
    scenario.registered = ("3", "4")
    assert scenario.step() == (Assign(units(p0="3", p1="3", p2="3", p3="3")), WarmUp("4"))
