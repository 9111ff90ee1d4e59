"""Whether the state of a checkpoint can be rewritten: formats and operators whose keys Spark 4.3
distinguishes.
"""

from __future__ import annotations

from collections.abc import Mapping

from rheostat.errors import BadInput
from rheostat.repartition.checkpoints.checkpoint import HDFS_BACKED, Checkpoint, Operator
from rheostat.spark.sensing.capabilities.query_shape import ROCKSDB

_KNOWN: Mapping[str, frozenset[str]] = {
    "spark.sql.streaming.aggregation.stateFormatVersion": frozenset("12"),
    "spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion": frozenset("12"),
    "spark.sql.streaming.join.stateFormatVersion": frozenset("1234"),
    "spark.sql.streaming.sessionWindow.stateFormatVersion": frozenset("1"),
    "spark.sql.streaming.stateStore.encodingFormat": frozenset({"unsaferow", "avro"}),
}

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


def unknown_format(checkpoint: Checkpoint) -> str | None:
    """Return why a checkpoint's state cannot be rewritten; None if it can.

    A newer Spark or a third-party provider may keep the rows in a way that would be copied
    wrongly.
    """
    if checkpoint.provider not in (ROCKSDB, HDFS_BACKED):
        return (
            f"the state provider {checkpoint.provider} is not known: Spark's own two can be"
            " repartitioned, RocksDB and the HDFS-backed one"
        )
    for setting, known in _KNOWN.items():
        value = checkpoint.last.settings.get(setting)
        if value is not None and value.lower() not in known:
            return (
                f"{setting} is {value}, which is not known: {' or '.join(sorted(known))} can be"
                " repartitioned"
            )
    for operator in checkpoint.operators:
        if operator.metadata_format not in (1, 2):
            return (
                f"operator {operator.id} ({operator.name}) has metadata of format"
                f" {operator.metadata_format}: 1 and 2 can be repartitioned"
            )
    return None


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
