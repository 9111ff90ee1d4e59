from __future__ import annotations

import math
import random

import pytest

from rheostat_lab.validation.nodes import node_use

DAY = [round(12 + 10 * math.sin(2 * math.pi * step / 288)) for step in range(288 * 7)]


@pytest.mark.parametrize("packs", [True, False])
def test_removing_the_emptiest_node_first_needs_fewer_nodes(packs: bool) -> None:
    with_rule = node_use(DAY, 4, frees_nodes=True, packs=packs, churn=36)
    without = node_use(DAY, 4, frees_nodes=False, packs=packs, churn=36)
    assert with_rule.executor_steps == without.executor_steps
    assert with_rule.node_steps < without.node_steps


def test_the_rule_is_never_more_expensive_on_random_targets() -> None:
    draw = random.Random(3)
    for _ in range(20):
        targets = [1]
        for _ in range(300):
            targets.append(min(24, max(1, targets[-1] + draw.choice((-3, -1, 0, 1, 3)))))
        ruled = node_use(targets, 4, frees_nodes=True, churn=20)
        free = node_use(targets, 4, frees_nodes=False, churn=20)
        assert ruled.node_steps <= free.node_steps


def test_full_nodes_give_the_minimum_node_count() -> None:
    use = node_use([8] * 10, 4, frees_nodes=True)
    assert use.node_steps == 20
