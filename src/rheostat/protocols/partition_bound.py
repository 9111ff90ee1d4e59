"""Whether a query is bound by the number of its state partitions, and how many would do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from rheostat.model import Decision, Observation
from rheostat.state.proposed_count import proposed_count

WANTED = "state_partitions_wanted"
"""The number in the evidence of a decision."""

_TASKS_BIND = re.compile(r"its (\d+) tasks \(partitions\) bind")
"""As ``capacity.binding`` says it."""

Command = Callable[[Observation, int], str]
"""The query that is bound, and the number -> the command that changes it."""


def partitions_wanted(raw: Decision, allowed: int, observation: Observation) -> int | None:
    """Return how many state partitions would do, None where theirs do not bind.

    They bind where the policy needs more slots than there are partitions, within what the guards
    have ``allowed``, or where it says that they do.
    """
    have, per_executor = observation.state_partitions, observation.slots_per_executor or 1
    if not have:
        return None
    slots = min(raw.target, allowed) * per_executor
    if slots > have:
        return proposed_count(have, slots)
    bound = _TASKS_BIND.search(raw.reason)
    return proposed_count(have, have + 1) if bound and int(bound[1]) == have else None


def with_partitions(
    raw: Decision, decision: Decision, observation: Observation, command: Command
) -> Decision:
    """Return a decision with the number and the command among its actions where state partitions
    bind; the size is that of ``decision``, which is ``raw`` after all guards.
    """
    wanted = partitions_wanted(raw, decision.target, observation)
    if wanted is None:
        return decision
    action = (
        f"its {observation.state_partitions} state partitions bind, {wanted} would do:"
        f" {command(observation, wanted)}"
    )
    return replace(
        decision,
        evidence={**decision.evidence, WANTED: wanted},
        actions=(*decision.actions, action),
    )
