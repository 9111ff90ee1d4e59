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
class Story:
    """A controller and its facts; ``at`` is the executor of the partitions 0, 1, 2, ... of one
    query."""

    at: list[str | None]
    registered: tuple[str, ...] = ("1", "2")
    target: int = 2
    standby: int = 0
    memory: Memory = field(default_factory=Memory)
    now_s: float = 100.0
    batch: int | None = 0
    seen: Mapping[str, Any] = field(default_factory=dict)
    said: Rescaling = field(default_factory=lambda: Rescaling(phase="steady"))

    def step(self, replace: Collection[str] = (), **seen: Any) -> tuple[Order, ...]:
        """Take a step half a second later and return the orders except the request for the target;
        assignments persist."""
        self.now_s += 0.5
        holders: dict[Unit, str | None] = {("q", n): executor for n, executor in enumerate(self.at)}
        known = {"slack_s": 20.0, "load_s": 1.0, **self.seen, **seen}
        facts = Facts(
            now_s=self.now_s, registered=self.registered, holders=holders, batch=self.batch, **known
        )
        taken = advance(self.memory, facts, self.target, replace, self.standby)
        self.memory, self.said = taken.memory, taken.rescaling
        for order in taken.orders:
            if isinstance(order, Assign):
                for (_, partition), executor in order.units.items():
                    self.at[partition] = executor
        return tuple(
            order for order in taken.orders if order != Request(self.target + self.standby)
        )

    def after_batch(self, **seen: Any) -> tuple[Order, ...]:
        """End a batch, then take a step."""
        self.batch = (self.batch or 0) + 1
        return self.step(**seen)

    def phases(self) -> dict[str, str]:
        return {executor: life.phase for executor, life in self.memory.lives.items()}


def running(*at: str | None, registered: tuple[str, ...] = ("1", "2"), **seen: Any) -> Story:
    """Return a story that begins with settled executors."""
    story = Story(list(at), registered, len(registered), seen=seen)
    story.step()
    story.after_batch()
    assert set(story.phases().values()) == {"ready"}
    assert story.said == Rescaling(phase="steady")
    return story


def units(**to: str) -> dict[Unit, str]:
    """Return units from p3="1"."""
    return {("q", int(name[1:])): executor for name, executor in to.items()}


def test_executors_that_were_there_first_are_taken_as_they_are_without_a_warm_up():
    story = Story(["1", "1", "2", "2"])
    assert story.step(warmable=True) == ()
    assert story.phases() == {"1": "warm", "2": "warm"}


def test_scale_out_requests_waits_warms_assigns_and_settles():
    story = running("1", "1", "1", "2", "2", "2", warmable=True)
    story.target = 3
    assert story.step() == ()
    assert story.said == Rescaling(phase="growing", detail="waiting for 1 of 3 executors")
    story.registered = ("1", "2", "3")
    assert story.step() == (WarmUp("3"),)
    assert story.said == Rescaling(phase="growing", detail="warming executor 3")
    assert story.after_batch() == ()
    assert story.step(warm=frozenset({"3"})) == ()
    assert story.phases()["3"] == "warm"
    assert story.after_batch() == (Assign(units(p2="3", p5="3")),)
    assert story.said == Rescaling(phase="growing", detail="moving 2 partitions to executor 3")
    assert story.step() == ()
    assert story.phases()["3"] == "assigned"
    assert story.said == Rescaling(
        phase="growing", detail="executor 3 to be verified when a batch has ended"
    )
    assert story.after_batch() == ()
    assert story.said == Rescaling(phase="steady")


def test_the_target_is_asked_for_in_every_step():
    story = running("1", "2")
    for target in (2, 5, 3):
        taken = advance(story.memory, Facts(now_s=1.0, registered=story.registered), target)
        assert taken.orders[0] == Request(target)


def test_five_of_eight_came_and_are_settled_while_the_others_are_waited_for():
    story = running(*"12345123", registered=tuple("12345"))
    story.target = 8
    story.after_batch()
    assert set(story.phases().values()) == {"ready"}
    assert story.said == Rescaling(phase="growing", detail="waiting for 3 of 8 executors")


def test_a_warm_up_that_does_not_end_does_not_keep_an_executor_cold_for_ever():
    story = running("1", "1", "2", "2", warmable=True)
    story.registered, story.target = ("1", "2", "3"), 3
    story.step()
    story.now_s += Waits().warm_s
    story.step()
    assert story.phases()["3"] == "warm"


def test_an_executor_that_got_state_by_itself_is_warm():
    story = running("1", "1", "2", "2", warmable=True)
    story.registered, story.target = ("1", "2", "3"), 3
    story.step()
    story.at[0] = "3"
    story.step()
    assert story.phases()["3"] == "warm"


def test_the_first_of_all_executors_take_state_cold():
    story = running("1", "1", registered=("1",), warmable=True)
    story.registered = ("2", "3")
    story.target = 2
    assert story.step() == (Assign(units(p0="2", p1="3")),)


def test_scale_in_assigns_away_verifies_hides_and_decommissions_a_boundary_later():
    story = running(*"11122233", registered=tuple("123"))
    story.target = 2
    assert story.step() == ()
    assert story.said == Rescaling(
        phase="shrinking", detail="emptying executor 3: 2 of 2 partitions left"
    )
    assert story.after_batch() == (Assign(units(p6="1", p7="2")),)
    assert story.said == Rescaling(
        phase="shrinking", detail="emptying executor 3: 2 of 2 partitions left"
    )
    assert story.step() == ()
    assert story.after_batch() == (Hide(("3",)),)
    assert story.step() == ()
    assert story.said == Rescaling(phase="shrinking", detail="executor 3 is leaving")
    assert story.after_batch() == (Decommission(("3",)),)
    assert story.after_batch() == ()
    story.registered = ("1", "2")
    assert story.after_batch() == ()
    assert story.said == Rescaling(phase="steady")


def test_the_victim_holds_least_by_weight_and_of_equals_is_the_youngest():
    story = running(*"112233", registered=tuple("123"))
    story.target = 2
    story.step()
    assert [executor for executor, phase in story.phases().items() if phase == "candidate"] == ["3"]
    story = running(
        *"112233",
        registered=tuple("123"),
        weights={("q", n): 9.0 if n != 1 else 1.0 for n in range(6)},
    )
    story.target = 2
    story.step()
    assert [executor for executor, phase in story.phases().items() if phase == "candidate"] == ["1"]


def test_a_victim_is_emptied_no_faster_than_the_slack_allows():
    story = running(*"1111222233334444", registered=tuple("1234"), slack_s=3.8)
    story.target = 2
    moved = [
        len(order.units)
        for _ in range(6)
        for order in story.after_batch()
        if isinstance(order, Assign)
    ]
    assert moved == [2, 2, 2, 2]


def test_an_executor_to_which_state_came_back_after_it_was_hidden_is_not_decommissioned():
    story = running(*"112233", registered=tuple("123"))
    story.target = 2
    for _ in range(2):
        hidden = story.after_batch()
    assert hidden == (Hide(("3",)),)
    story.at[5] = "3"
    assert story.after_batch() == (Assign(units(p5="2")),)
    assert story.phases()["3"] == "hidden"
    assert story.after_batch() == (Decommission(("3",)),)


def test_a_victim_whose_state_will_not_go_leaves_after_the_time_out_and_that_is_said():
    story = running(*"112233", registered=tuple("123"))
    story.target = 2
    story.after_batch()
    for _ in range(3):
        story.at[4] = story.at[5] = "3"
        assert not any(isinstance(order, Hide) for order in story.after_batch())
    story.at[4] = story.at[5] = "3"
    story.now_s += Waits().empty_s
    assert Hide(("3",)) in story.after_batch()
    story.at[4] = story.at[5] = "3"
    story.step()
    assert "executor 3 is leaving with 2 partitions that did not move away" in story.said.detail


def test_a_partition_less_begins_the_wait_anew():
    story = running(*"112233", registered=tuple("123"))
    story.target = 2
    story.after_batch()
    story.at[4], story.at[5] = "1", "3"
    story.now_s += Waits().empty_s - 1
    story.after_batch()
    story.at[5] = "3"
    story.now_s += Waits().empty_s - 1
    assert not any(isinstance(order, Hide) for order in story.after_batch())


def test_one_that_does_not_leave_is_asked_again_then_killed_and_killed_again():
    story = running(*"1122", registered=tuple("12"))
    story.target = 1
    for _ in range(4):
        story.after_batch()
    assert story.phases()["2"] == "leaving"
    for order in (Decommission(("2",)), Kill(("2",)), Kill(("2",))):
        story.now_s += Waits().leave_s
        assert story.step() == (order,)


@pytest.mark.parametrize("emptied", [False, True])
def test_a_higher_target_takes_a_leaving_executor_back(emptied):
    story = running(*"112233", registered=tuple("123"))
    story.target = 2
    story.step()
    if emptied:
        story.after_batch()
    assert story.phases()["3"] == ("emptying" if emptied else "candidate")
    story.target = 3
    story.step()
    assert story.phases()["3"] == "warm"
    for _ in range(2):
        story.after_batch()
    assert (story.said.phase, sorted(map(str, story.at))) == ("steady", [*"112233"])


def test_of_those_that_leave_the_one_with_the_most_state_is_taken_back_and_none_that_is_to_be_replaced():  # noqa: E501
    story = running(*"111222333", registered=tuple("123"))
    story.at = [*"111222233"]
    story.target = 1
    story.step()
    story.target = 2
    story.step()
    assert story.phases() == {"1": "warm", "2": "ready", "3": "candidate"}
    story = running(*"112233", registered=tuple("123"))
    story.target = 1
    story.step(replace=["2"])
    assert story.phases() == {"1": "ready", "2": "candidate", "3": "candidate"}
    story.at[5] = "2"
    story.target = 2
    story.step()
    assert story.phases() == {"1": "ready", "2": "candidate", "3": "warm"}


def test_one_that_is_hidden_goes_though_the_target_rose():
    story = running(*"112233", registered=tuple("123"))
    story.target = 2
    for _ in range(2):
        story.after_batch()
    story.target = 3
    assert story.after_batch() == (Decommission(("3",)),)
    assert story.said.detail == "waiting for 1 of 3 executors; executor 3 is leaving"


def test_state_of_a_lost_executor_is_assigned_at_once_and_only_once():
    story = running(*"112233", registered=tuple("123"))
    story.registered = ("1", "2")
    assert story.step() == (Assign(units(p4="1", p5="2")),)
    story.at[4] = story.at[5] = "3"  # the order was not executed
    assert [story.step(), story.step()] == [(), ()]
    assert story.after_batch() == (Assign(units(p4="1", p5="2")),)
    assert story.said.phase == "growing"


def test_state_that_wandered_is_sent_back():
    story = running(*"1122")
    story.at[0] = "2"
    assert story.step() == ()
    assert story.after_batch() == (Assign(units(p0="1")),)
    assert story.said == Rescaling(phase="balancing", detail="moving 1 partition to executor 1")


def test_what_does_not_stay_is_given_up_after_four_tries_which_is_said_and_tried_again_a_minute_later():  # noqa: E501
    story = running(*"1122")
    tried = 0
    for _ in range(8):
        story.at[0] = "2"
        tried += len(story.after_batch())
    assert tried == Waits().tries
    assert story.said == Rescaling(
        phase="blocked",
        detail="1 partition did not stay on executor 1 after 4 tries, again every 60 s",
    )
    story.now_s += Waits().rest_s
    assert story.after_batch() == (Assign(units(p0="1")),)
    story.step()
    assert story.phases()["1"] == "rebalancing"
    story.after_batch()
    assert story.said == Rescaling(phase="steady")


def test_tries_are_counted_in_a_row():
    story = running(*"11112222", slack_s=1.0)
    for stays in (False, False, False, True, False, False, False):
        story.at[:4] = [*"1222"] if stays else [*"2222"]
        story.after_batch()
    assert story.phases()["1"] == "rebalancing"


def test_what_has_healed_counts_anew():
    story = running(*"1122")
    for _ in range(6):
        story.at[0] = "2"
        story.after_batch()
    assert story.phases()["1"] == "stuck"
    story.at[0] = "1"
    story.after_batch()
    assert story.said == Rescaling(phase="steady")
    for _ in range(Waits().tries):
        story.at[0] = "2"
        story.after_batch()
    assert story.phases()["1"] == "rebalancing"


def test_what_leaves_may_go_to_an_executor_to_which_nothing_else_is_sent_any_more():
    story = running(*"111222333", registered=tuple("123"))
    for _ in range(6):
        story.at[0] = "2"
        story.after_batch()
    assert story.phases()["1"] == "stuck"
    story.at, story.target = [*"211222223"], 2
    assert story.after_batch() == (Assign(units(p8="1")),)


def test_what_leaves_goes_before_what_has_wandered():
    story = running(*"111122223333", registered=tuple("123"), slack_s=1.0)
    story.at = [*"111222222233"]
    story.target = 2
    assert story.after_batch() == (Assign(units(p10="1")),)


def test_places_that_are_not_known_in_the_middle_of_a_batch_are_looked_at_again_when_it_has_ended():
    story = running(*"1212")
    story.registered, story.target = ("1", "2", "3"), 3
    known, story.at = story.at, [None] * 4
    story.step()
    story.at = known
    assert story.after_batch() == (Assign(units(p3="3")),)


def test_weights_that_change_alone_move_nothing():
    story = running(*"1122")
    assert story.after_batch(weights={("q", n): 1.0 + 100 * (n < 2) for n in range(4)}) == ()


def test_to_replace_an_executor_one_more_comes_and_settles_before_it_goes():
    story = running(*"112233", registered=tuple("123"))
    assert story.step(replace=["2"]) == (Request(4),)
    assert story.said.detail == "waiting for 1 of 4 executors to replace executor 2"
    story.registered = tuple("1234")
    assert story.step() == (Request(4),)  # requested once, then remembered
    assert story.after_batch() == (Request(4), Assign(units(p2="4", p3="4")))
    assert story.after_batch() == (Request(4),)
    assert story.phases()["4"] == "ready"
    assert story.after_batch() == ()  # now it is the one to remove
    assert story.after_batch() == (Hide(("2",)),)
    assert story.after_batch() == (Decommission(("2",)),)
    story.registered = tuple("134")
    story.after_batch()
    assert story.said == Rescaling(phase="steady")
    assert story.memory.replacing == {}


def test_a_newcomer_that_came_in_time_may_take_its_time_to_replace():
    story = running(*"1122", warmable=True)
    story.step(replace=["2"])
    story.now_s += Waits().replace_s - 2
    story.registered = ("1", "2", "3")
    assert story.step() == (Request(3), WarmUp("3"))
    story.now_s += 3
    assert story.step() == (Request(3),)


def test_a_replacement_that_is_asked_for_all_the_time_is_tried_again_after_a_rest():
    story = running(*"1122")
    asked = [story.step(replace=["2"]) for _ in range(round(3 * Waits().replace_s / 0.5))]
    third = round(Waits().replace_s / 0.5)
    assert [
        sum(orders == (Request(3),) for orders in asked[n : n + third])
        for n in (0, third, 2 * third)
    ] == [third, 0, third]


def test_a_replacement_for_which_no_executor_comes_is_abandoned_and_reported():
    story = running(*"1122")
    assert story.step(replace=["2"]) == (Request(3),)
    story.now_s += Waits().replace_s
    assert story.step(replace=["2"]) == ()
    assert story.said == Rescaling(
        phase="steady", detail="executor 2 not replaced: no successor started within 300 s"
    )
    story.now_s += Waits().replace_s
    assert story.step() == ()
    assert story.said == Rescaling(phase="steady")


def test_a_slow_executor_is_the_one_to_go_when_the_target_falls():
    story = running(*"1112233", registered=tuple("123"))
    story.target = 2
    story.step(replace=["1"])
    assert story.phases() == {"1": "candidate", "2": "ready", "3": "ready"}


def test_without_placement_newcomers_are_settled_and_victims_empty_at_once():
    story = running(*"1122", placing=False)
    story.registered, story.target = ("1", "2", "3"), 3
    assert story.step(warmable=True) == ()
    assert story.said == Rescaling(phase="steady")
    story.target = 2
    assert story.step() == (Hide(("3",)),)
    assert story.step() == ()
    assert story.after_batch() == (Decommission(("3",)),)


def test_where_no_batch_runs_a_second_is_a_boundary():
    story = Story([], registered=("1", "2"), target=1, batch=None, seen={"placing": False})
    assert story.step() == (Hide(("2",)),)
    assert story.step() == ()
    assert story.step() == (Decommission(("2",)),)


def test_executors_that_come_after_an_empty_first_look_are_taken_as_they_are():
    story = Story([], registered=(), seen={"warmable": True})
    story.step()
    story.registered = ("1", "2")
    assert story.step() == ()
    assert set(story.phases().values()) == {"ready"}
    assert story.said == Rescaling(phase="steady")


def test_a_clock_that_was_put_back_does_not_make_anything_wait_longer():
    story = running(*"1122", warmable=True)
    story.registered, story.target = ("1", "2", "3"), 3
    story.step()
    story.now_s -= 1000
    story.step()
    story.now_s += Waits().warm_s
    story.step()
    assert story.phases()["3"] == "warm"
    replacing = running(*"1122")
    replacing.step(replace=["2"])
    replacing.now_s -= 1000
    replacing.step()
    replacing.now_s += Waits().replace_s
    assert replacing.step() == ()
    idle = Story([], registered=("1", "2"), target=1, batch=None, seen={"placing": False})
    idle.step()
    idle.now_s -= 1000
    assert [idle.step(), idle.step(), idle.step()] == [(), (), (Decommission(("2",)),)]


def test_a_query_that_starts_is_spread_with_the_sum_over_all_queries():
    story = running(*"1122")
    story.at += ["1", "1", "1", "1"]
    assert story.after_batch() == (Assign(units(p6="2", p7="2")),)


def test_more_slots_than_state_partitions_is_said_with_the_number_that_would_help():
    story = running(*"1122")
    story.after_batch(slots_per_executor=4)
    assert story.said == Rescaling(
        phase="steady", detail="4 state partitions cannot use 8 slots: 8 or more partitions would"
    )


def test_a_partition_too_big_for_the_slack_moves_alone_and_that_is_said():
    story = running(*"1122", registered=("1", "2"), slack_s=0.8, load_s=2.0)
    story.at[0] = story.at[1] = "2"
    assert story.after_batch() == (Assign(units(p0="1")),)
    felt = (
        "one state partition takes 2.0 s to load, a batch has 0.8 s to spare: its move will be felt"
    )
    assert story.said.detail == f"moving 2 partitions to executor 1; {felt}"


def test_a_controller_without_its_memory_disturbs_nothing():
    story = running(*"112233", registered=tuple("123"))
    story.memory = Memory()
    assert [story.step(), story.after_batch(), story.after_batch()] == [(), (), ()]
    assert story.said == Rescaling(phase="steady")


def with_standby(
    *at: str | None, registered: tuple[str, ...] = ("1", "2", "3"), **seen: Any
) -> Story:
    """Return a story that begins with settled executors, the last of them in standby."""
    story = running(*at, registered=registered[:-1], **seen)
    story.standby, story.registered = 1, registered
    story.step(warm=frozenset(registered))
    story.step(warm=frozenset(registered))
    assert story.phases()[registered[-1]] == "standby"
    return story


def test_an_executor_in_standby_is_asked_for_warmed_and_given_no_state():
    story = running("1", "1", "2", "2", warmable=True)
    story.standby = 1
    assert Request(3) not in story.step()  # the story omits the expected request
    assert story.said == Rescaling(phase="steady", detail="waiting for 1 of 1 standby executors")
    story.registered = ("1", "2", "3")
    assert story.step() == (WarmUp("3"),)
    assert story.step(warm=frozenset({"3"})) == ()
    assert [story.after_batch(), story.after_batch()] == [(), ()]
    assert story.phases()["3"] == "standby"
    assert story.said == Rescaling(phase="steady", detail="executor 3 stands by")


def test_when_the_target_rises_the_one_in_standby_takes_state_at_once_and_another_is_started():
    story = with_standby(*"111222", warmable=True)
    story.target = 3
    assert story.after_batch() == (Assign(units(p2="3", p5="3")),)
    assert (
        story.said.detail
        == "waiting for 1 of 1 standby executors; moving 2 partitions to executor 3"
    )
    story.registered = tuple("1234")
    assert story.after_batch() == (WarmUp("4"),)
    story.after_batch(warm=frozenset({"4"}))
    assert story.said == Rescaling(phase="steady", detail="executor 4 stands by")


def test_a_newcomer_that_is_still_cold_does_not_keep_the_one_in_standby_from_its_work():
    story = with_standby(*"111222", warmable=True)
    story.target, story.registered = 3, tuple("1234")
    story.step()
    assert (story.phases()["3"], story.phases()["4"]) == ("warm", "warming")


def test_when_the_target_falls_the_one_in_standby_stays_and_one_at_work_goes():
    story = with_standby(*"112233", registered=tuple("1234"))
    story.target = 2
    story.step()
    assert story.phases() == {"1": "ready", "2": "ready", "3": "candidate", "4": "standby"}
    assert story.after_batch() == (Assign(units(p4="1", p5="2")),)
    assert story.after_batch() == (Hide(("3",)),)


def test_an_emptied_executor_stands_by_where_one_is_lacking():
    story = running(*"112233", registered=tuple("123"))
    story.target, story.standby = 2, 1
    assert story.step() == ()
    assert story.after_batch() == (Assign(units(p4="1", p5="2")),)
    assert story.after_batch() == ()
    assert story.said == Rescaling(phase="steady", detail="executor 3 stands by")


def test_when_fewer_are_to_stand_by_those_go_and_nobody_else():
    story = with_standby(*"1122")
    story.standby = 0
    assert story.step() == ()
    assert story.phases() == {"1": "ready", "2": "ready", "3": "candidate"}
    assert story.after_batch() == (Hide(("3",)),)


def test_what_a_lost_executor_held_goes_to_the_one_in_standby_at_once():
    story = with_standby(*"1122")
    story.registered = ("1", "3")
    assert story.step() == (Assign(units(p2="3", p3="3")),)


def test_an_executor_is_replaced_by_the_one_in_standby():
    story = with_standby(*"1122")
    assert story.step(replace=["2"]) == (Request(4),)
    assert story.after_batch() == (Request(4), Assign(units(p2="3", p3="3")))
    story.after_batch()
    story.step()
    assert story.phases() == {"1": "ready", "2": "candidate", "3": "ready"}
    assert story.after_batch() == (Hide(("2",)),)


def test_a_leaving_executor_is_taken_back_before_the_one_in_standby_is_called():
    story = with_standby(*"112233", registered=tuple("1234"))
    story.target = 2
    story.step()
    story.target = 3
    story.step()
    assert story.phases() == {"1": "ready", "2": "ready", "3": "warm", "4": "standby"}


def test_state_that_strayed_to_an_executor_in_standby_is_sent_back():
    story = with_standby(*"1122")
    story.at[0] = "3"
    assert story.after_batch() == (Assign(units(p0="1")),)
    story.after_batch()
    assert (story.phases()["3"], story.said.phase) == ("standby", "steady")


def test_a_controller_without_its_memory_finds_the_one_in_standby():
    story = with_standby(*"1122")
    story.memory = Memory()
    assert [story.step(), story.after_batch()] == [(), ()]
    assert story.phases() == {"1": "ready", "2": "ready", "3": "standby"}


def test_a_new_controller_goes_on_in_the_middle_of_a_scale_in():
    story = running(*"112233", registered=tuple("123"))
    story.target = 2
    story.after_batch()
    story.now_s += Waits().empty_s  # without an observation meanwhile
    story.memory, story.batch = story.memory.resumed(story.now_s), 0
    assert story.step() == ()  # the first observation may fall anywhere within a batch
    assert story.after_batch() == (Hide(("3",)),)


def test_where_all_at_work_are_lost_the_one_in_standby_begins_and_a_newcomer_is_warmed_in_peace():
    story = with_standby(*"1122", warmable=True)
    story.registered = ("3", "4")
    assert story.step() == (Assign(units(p0="3", p1="3", p2="3", p3="3")), WarmUp("4"))
