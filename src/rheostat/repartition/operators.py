"""Which stateful operators can be repartitioned."""

from __future__ import annotations

from collections.abc import Iterable

from rheostat.errors import BadInput
from rheostat.repartition.checkpoint import Operator

REPARTITIONABLE = frozenset(
    {
        "stateStoreSave",
        "StatefulStreamlineAggregate",
        "sessionWindowStateStoreSaveExec",
        "dedupe",
        "dedupeWithinWatermark",
        "symmetricHashJoin",
        "flatMapGroupsWithState",
        "applyInPandasWithState",
        "transformWithStateExec",
        "transformWithStateInPandasExec",
        "transformWithStateInPySparkExec",
    }
)
"""The operators whose rows have a partition key, as Spark 4.3 names them."""

_REASONS = {
    "globalLimit": "a limit counts all rows of the query in one partition; its state has no key",
}


def refusal(operator: Operator) -> str | None:
    """Return why an operator cannot be repartitioned; None if it can."""
    if operator.name in REPARTITIONABLE:
        return None
    reason = _REASONS.get(operator.name, "its rows have no partition key that Rheostat knows")
    return f"operator {operator.id} ({operator.name}) cannot be repartitioned: {reason}"


def require_repartitionable(operators: Iterable[Operator]) -> None:
    """Raise BadInput if one of the operators cannot be repartitioned."""
    for operator in operators:
        refused = refusal(operator)
        if refused:
            raise BadInput(refused)
