"""The table of an executor's life is sound, and a table that is not is refused."""

from typing import get_args

import pytest

from rheostat.errors import BadInput
from rheostat.protocols import orders
from rheostat.protocols.executors.conditions import ARRIVALS, CHOICES, PLACEMENT, READINESS
from rheostat.protocols.executors.executor_lifecycle import (
    ARRIVING,
    DONE,
    EVENTS,
    GOING,
    KEEPABLE,
    LIFE,
    STAYING,
    TAKING,
)
from rheostat.protocols.transition_table import Table, Transition

LOOKS = (*ARRIVALS, *CHOICES, *READINESS, *PLACEMENT)


def taken(phase: str, *events: str) -> Transition:
    """Return the transition of a phase, which must be there."""
    found = LIFE.after(phase, events)
    assert found is not None
    return found


def table(*rows: str) -> Table:
    """Return the table from rows like "a go b"."""
    return Table(start="a", end="z", transitions=tuple(Transition(*row.split()) for row in rows))


def test_every_event_of_the_table_has_one_meaning_one_condition_and_one_place_in_a_step():
    assert set(LIFE.events) == set(EVENTS) == set(LOOKS)
    assert len(LOOKS) == len(set(LOOKS))


def test_every_order_of_the_table_is_one_that_exists():
    named = {each.__name__ for each in get_args(orders.Order)}
    assert {each.order for each in LIFE.transitions if each.order} == named - {"Request"}


def test_the_groups_of_phases_are_phases():
    assert {*STAYING, *KEEPABLE, *GOING, "requested", "gone"} == set(LIFE.phases)
    assert not GOING & (STAYING | KEEPABLE)
    assert DONE < TAKING < STAYING
    assert not STAYING & KEEPABLE
    assert ARRIVING < STAYING


@pytest.mark.parametrize(
    "phase", [phase for phase in LIFE.phases if phase not in ("requested", "gone")]
)
def test_an_executor_can_be_gone_from_every_phase(phase):
    assert taken(phase, "lost", "left").to == "gone"


@pytest.mark.parametrize("phase", sorted(STAYING))
def test_an_executor_can_be_chosen_in_every_phase_in_which_it_stays(phase):
    assert taken(phase, "chosen").to == "candidate"


@pytest.mark.parametrize("phase", sorted(TAKING))
def test_an_executor_that_may_take_state_can_be_given_some_and_be_whole(phase):
    assert taken(phase, "assigned").order == "Assign"
    assert phase == "ready" or taken(phase, "complete").to == "ready"


def test_only_what_was_hidden_is_decommissioned_and_only_what_was_asked_to_leave_is_killed():
    assert {each.phase for each in LIFE.transitions if each.order == "Decommission"} == {
        "hidden",
        "leaving",
    }
    assert {each.phase for each in LIFE.transitions if each.order == "Kill"} == {"urged", "killed"}


def test_an_event_twice_in_a_phase_is_refused():
    with pytest.raises(
        BadInput, match="event 'go' must stand once in phase 'a', but it stands 2 times"
    ):
        table("a go b", "a go z", "b go z")


def test_a_phase_that_cannot_be_reached_is_refused():
    with pytest.raises(BadInput, match="reachable from 'a', but 'c' is not"):
        table("a go z", "c go z")


def test_a_phase_without_a_way_to_the_end_is_refused():
    with pytest.raises(BadInput, match="a way to 'z', but 'b' has none"):
        table("a go z", "a stray b")


def test_a_way_on_from_the_end_is_refused():
    with pytest.raises(BadInput, match="'again' leads on from 'z'"):
        table("a go z", "z again a")


def test_the_first_transition_of_those_whose_event_is_asked_for_is_the_one():
    one = table("a x b", "a y z", "b x z")
    assert [one.after("a", events) for events in (["y", "x"], ["y"], [])] == [
        Transition("a", "x", "b"),
        Transition("a", "y", "z"),
        None,
    ]
    assert one.phases == ("a", "b", "z")


def test_a_diagram_shows_the_phases_asked_for_with_their_orders():
    one = table("a x b Hide", "b x z", "b lost z")
    assert one.mermaid(["a", "b"]).splitlines() == [
        "stateDiagram-v2",
        "    [*] --> a",
        "    a --> b: x / Hide",
    ]
    assert one.mermaid(["b", "z"]).splitlines() == [
        "stateDiagram-v2",
        "    b --> z: x",
        "    b --> z: lost",
        "    z --> [*]",
    ]
