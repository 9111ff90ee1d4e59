"""Nodes that are paid for while they have an executor: the value of removing executors from the
emptiest node first.

The cluster manager places a new executor on the fullest node with room (packs) or on the emptiest
one (spreads), and takes a new node if none has room; an empty node is released. The product's own
rule chooses the executors to remove.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rheostat.protocols.executors.executor_choice import with_choice
from rheostat.protocols.executors.executor_states import ExecutorStates, Facts
from rheostat.protocols.executors.memory import Life, Waits


@dataclass(frozen=True, slots=True)
class NodeUse:
    """Steps with an executor, and steps for which a node was paid."""

    executor_steps: int
    node_steps: int


def node_use(
    targets: Sequence[int], room: int, *, frees_nodes: bool, packs: bool = False, churn: int = 0
) -> NodeUse:
    """Return the node use of a sequence of targets, with ``room`` executors per node.

    At every ``churn``-th step the executors' order of age is reversed, as if some were lost and
    started again on the existing nodes (0: never).
    """
    nodes: dict[str, str] = {}
    executors = steps = 0
    number = 0
    for step, target in enumerate(targets):
        while len(nodes) < target:
            nodes[str(number)] = _node(Counter(nodes.values()), room, packs)
            number += 1
        for executor in _leaving(nodes, target, frees_nodes):
            del nodes[executor]
        if churn and step % churn == churn - 1:
            # The order of the dictionary is the order of age here.
            nodes = dict(reversed(nodes.items()))
        executors += len(nodes)
        steps += len(set(nodes.values()))
    return NodeUse(executors, steps)


def _node(used: Counter[str], room: int, packs: bool) -> str:
    free = [node for node in used if used[node] < room]
    if free:
        return (max if packs else min)(free, key=lambda node: (used[node], node))
    # The smallest free name, because a node that was released may be taken again.
    return next(name for name in map(str, range(len(used) + 1)) if name not in used)


def _leaving(nodes: dict[str, str], target: int, frees_nodes: bool) -> Sequence[str]:
    left = dict(nodes)
    gone = []
    while len(left) > target:
        # One at a time, as between batches, because each removal changes which node is the
        # emptiest.
        states = ExecutorStates(
            facts=Facts(now_s=0.0, registered=tuple(left), nodes=left if frees_nodes else {}),
            target=len(left) - 1,
            standby=0,
            waits=Waits(),
            lives=dict.fromkeys(left, Life("ready", 0.0)),
            boundary=True,
            replacing={},
        )
        (executor,) = with_choice(states).leaving
        gone.append(executor)
        del left[executor]
    return gone
