"""The executor lifecycle table is sound, and an unsound table is rejected."""

from itertools import chain
from typing import Any

import pytest

from rheostat.protocols.executors import executor_lifecycle as life
from rheostat.protocols.executors.executor_lifecycle import LIFE
from rheostat.protocols.executors.memory import ARRIVING, DONE, GOING, KEEPABLE, STAYING, TAKING
from rheostat.protocols.orders import Assign, Decommission, Kill
from rheostat.protocols.transition_table import Row

PASSES = (life.ARRIVALS, life.CHOICES, life.READINESS, life.PLACEMENT)


def row_of(phase: str, *events: Any) -> Row[Any, Any]:
    """Return the row of a phase for one of these events, which must exist."""
    return next(row for row in LIFE.of(phase) if row.event in events)


def test_every_row_belongs_to_one_pass():
    assert sorted(row.cells() for row in chain(*PASSES)) == sorted(row.cells() for row in LIFE.rows)


def test_phase_groups_contain_only_phases():
    assert {*STAYING, *KEEPABLE, *GOING, "requested", "gone"} == set(LIFE.phases)
    assert not GOING & (STAYING | KEEPABLE)
    assert DONE < TAKING < STAYING
    assert not STAYING & KEEPABLE
    assert ARRIVING < STAYING


@pytest.mark.parametrize(
    "phase", [phase for phase in LIFE.phases if phase not in ("requested", "registered", "gone")]
)
def test_an_executor_can_be_lost_in_every_phase(phase):
    assert row_of(phase, life.lost, life.left).to == "gone"


@pytest.mark.parametrize("phase", sorted(STAYING))
def test_an_executor_can_be_selected_in_every_staying_phase(phase):
    assert row_of(phase, life.chosen).to == "candidate"


@pytest.mark.parametrize("phase", sorted(TAKING))
def test_an_executor_that_accepts_state_can_become_ready(phase):
    assert row_of(phase, life.assigned).order is Assign
    assert phase == "ready" or row_of(phase, life.complete).to == "ready"


def test_only_hidden_executors_are_decommissioned_and_only_leaving_ones_killed():
    assert {row.phase for row in LIFE.rows if row.order is Decommission} == {
        "hidden",
        "leaving",
    }
    assert {row.phase for row in LIFE.rows if row.order is Kill} == {"urged", "killed"}
