"""A decision reports state partitions as the bottleneck, a sufficient number, and the command."""

from __future__ import annotations

import pytest

from rheostat.actions import RepartitionState
from rheostat.model import Decision, Observation
from rheostat.state.proposed_count import with_partitions


def decision_for(
    target: int, tasks: int | None = None, have: int | None = 4, allowed: int | None = None
) -> Decision:
    raw = Decision(target=target, reason="", limiting_tasks=tasks)
    final = Decision(target=target if allowed is None else allowed, reason="")
    observation = Observation(t_s=0.0, query="orders", slots_per_executor=2, state_partitions=have)
    return with_partitions(raw, final, observation, lambda query, m: f"do {query.query} {m}")


@pytest.mark.parametrize(
    ("target", "tasks", "have", "allowed", "wanted"),
    [
        (2, None, 4, None, None),  # 4 slots, 4 partitions
        (3, None, 4, None, 8),
        (5, None, 4, None, 12),
        (5, None, 4, 2, None),  # the guards allow no more slots than there are partitions
        (2, 4, 4, None, 8),
        (2, 4, 6, None, None),  # the limiting tasks are not those of the state
        (9, None, None, None, None),
        (9, None, 0, None, None),
    ],
)
def test_the_number_is_the_smallest_multiple_that_covers_the_slots(
    target: int, tasks: int | None, have: int | None, allowed: int | None, wanted: int | None
) -> None:
    actions = decision_for(target, tasks, have, allowed).actions
    assert [action.partitions for action in actions if isinstance(action, RepartitionState)] == (
        [] if wanted is None else [wanted]
    )


def test_the_command_is_an_action_and_the_size_is_unchanged() -> None:
    decision = decision_for(3)
    assert decision.target == 3
    assert decision.actions == (RepartitionState(4, 8, "do orders 8"),)
