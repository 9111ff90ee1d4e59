"""Which stateful operators can be repartitioned."""

from __future__ import annotations

from rheostat.errors import BadInput
from rheostat.repartition.checkpoints.checkpoint import Checkpoint, Operator
from rheostat.repartition.checkpoints.formats import unknown_format

REPARTITIONABLE = frozenset(
    {
        "stateStoreSave",
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


def require_repartitionable(checkpoint: Checkpoint) -> None:
    """Raise BadInput if the format of a checkpoint's state is not known, or one of its operators
    cannot be repartitioned.
    """
    for refused in (unknown_format(checkpoint), *map(refusal, checkpoint.operators)):
        if refused:
            raise BadInput(refused)
