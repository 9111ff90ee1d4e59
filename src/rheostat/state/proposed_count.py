"""Determines whether the number of state partitions limits a query, and how many would suffice."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from rheostat.actions import RepartitionState
from rheostat.model import Decision, Observation

Command = Callable[[Observation, int], str]
"""The limited query and the proposed number of partitions -> the command that changes it."""


def proposed_count(partitions: int, slots: int) -> int:
    """Return the smallest multiple of ``partitions`` that gives every slot at least one.

    With a multiple, each partition is split separately, so a repartition needs no shuffle. Both are
    at least 1.
    """
    return math.ceil(slots / partitions) * partitions


def partitions_wanted(raw: Decision, allowed: int, observation: Observation) -> int | None:
    """Return how many state partitions would suffice; None if they do not limit the query.

    It does if the policy needs more slots than there are partitions, within the ``allowed``
    executors, or if the policy reports that their tasks limit the job.
    """
    have, per_executor = observation.state_partitions, observation.slots_per_executor or 1
    if not have:
        return None
    slots = min(raw.target, allowed) * per_executor
    if slots > have:
        return proposed_count(have, slots)
    return proposed_count(have, have + 1) if raw.limiting_tasks == have else None


def with_partitions(
    raw: Decision, decision: Decision, observation: Observation, command: Command
) -> Decision:
    """Return a decision with the action to repartition if the number of state partitions limits the
    query; ``decision`` is ``raw`` after all guards.
    """
    have = observation.state_partitions
    wanted = partitions_wanted(raw, decision.target, observation)
    if have is None or wanted is None:
        return decision
    action = RepartitionState(have, wanted, command(observation, wanted))
    return replace(decision, actions=(*decision.actions, action))
