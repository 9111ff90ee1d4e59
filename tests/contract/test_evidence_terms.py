"""Every number in the evidence of a policy's decision has a description and a unit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import rheostat.policies
from rheostat.journal.evidence_terms import TERMS, term
from rheostat.model import Observation, Stage
from rheostat.policies.registry import POLICIES, create
from rheostat.testing.contracts import follow, minutes

FIELDS = frozenset(Observation.__slots__)
SOURCES = Path(rheostat.policies.__file__).parent


def script() -> Iterator[Observation]:
    for step_s in (5.0, 60.0, 120.0):
        for observation in minutes(step_s=step_s):
            yield observation
            yield replace(observation, t_s=observation.t_s + step_s / 2, stages=STAGES)


STAGES = (Stage(name="count", rows_in=500.0, rows_out=9.0, busy_s=3.0, tasks=8),)


@pytest.mark.parametrize("policy", POLICIES)
def test_evidence_emitted_by_a_policy_is_documented(policy):
    names = {
        name for decision in follow(create(policy), [*script()])[0] for name in decision.evidence
    }
    # The configured metric of a policy has the name of its field in the observation.
    unknown = {name for name in names if term(name).words == name.replace("_", " ")}
    assert unknown - FIELDS == set()


def test_evidence_named_in_the_sources_is_documented():
    names = {name for path in SOURCES.rglob("*.py") for name in evidence_names(path)}
    assert len(names) > 30
    assert names - TERMS.keys() == set()
    assert {"state_partitions_wanted", "surge_late_share"} <= TERMS.keys()


def evidence_names(path: Path) -> Iterator[str]:
    """Yield the constant keys of dictionaries that are passed, assigned or added as evidence."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AugAssign)
            else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and target.id == "evidence":
                yield from keys(node.value)  # type: ignore[attr-defined]
            if isinstance(target, ast.Subscript) and ast.unparse(target.value) == "evidence":
                yield str(ast.literal_eval(target.slice))
        if isinstance(node, ast.keyword) and node.arg == "evidence":
            yield from keys(node.value)


def keys(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Dict):
            for key in part.keys:
                if isinstance(key, ast.Constant):
                    yield str(key.value)


def test_measured_throughput_counts_its_demand_in_rows_per_second():
    decisions, _ = follow(create("measured-throughput"), [*script()])
    demands = [
        demand for d in decisions if isinstance(demand := d.evidence.get("demand"), int | float)
    ]
    assert max(demands) > 100  # more than any number of executors
    assert {term("demand").unit, term("lag_slope").unit} == {"rows/s"}
