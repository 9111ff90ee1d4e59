"""A decision says where state partitions bind, how many would do, and by which command."""

from __future__ import annotations

import pytest

from rheostat.model import Decision, Observation
from rheostat.protocols.partition_bound import WANTED, with_partitions

BOUND = "more executors will not help: its 4 tasks (partitions) bind; size kept"


def decided(
    target: int, reason: str = "", have: int | None = 4, allowed: int | None = None
) -> Decision:
    raw = Decision(target=target, reason=reason)
    final = Decision(target=target if allowed is None else allowed, reason=reason)
    seen = Observation(t_s=0.0, query="orders", slots_per_executor=2, state_partitions=have)
    return with_partitions(raw, final, seen, lambda query, m: f"do {query.query} {m}")


@pytest.mark.parametrize(
    ("target", "reason", "have", "allowed", "wanted"),
    [
        (2, "", 4, None, None),  # 4 slots, 4 partitions
        (3, "", 4, None, 8),
        (5, "", 4, None, 12),
        (5, "", 4, 2, None),  # the guards allow no more slots than there are partitions
        (2, BOUND, 4, None, 8),
        (2, BOUND, 6, None, None),  # the tasks that bind are not those of the state
        (9, "", None, None, None),
        (9, "", 0, None, None),
    ],
)
def test_the_number_is_the_least_multiple_that_the_slots_can_use(
    target: int, reason: str, have: int | None, allowed: int | None, wanted: int | None
) -> None:
    assert decided(target, reason, have, allowed).evidence.get(WANTED) == wanted


def test_the_command_is_among_the_actions_and_the_size_stays() -> None:
    decision = decided(3)
    assert decision.target == 3
    assert decision.actions == ("its 4 state partitions bind, 8 would do: do orders 8",)
