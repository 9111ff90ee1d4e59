"""The Iceberg table behind a source of a query, whose description does not name it."""

from __future__ import annotations

from typing import Any

from rheostat.sources.iceberg_backlog import Snapshot
from rheostat.spark.internals.gateway import ABSENT, RAISED


class SourceTable:
    """The table of a source, with the catalog and the credentials of the job.

    * Calls: ``StreamExecution.logicalPlan``, ``StreamingDataSourceV2ScanRelation.stream`` and
      ``relation.table``, Iceberg's ``SparkTable.table`` and ``Table``.
    * Without them: ``table_of`` returns None.
    * Spark 4.1.4 with Iceberg 1.12.0 tried.
    """

    def __init__(self, table: Any) -> None:
        self._table = table

    def newest(self) -> int | None:
        """Refresh the table, as the stream does before each batch; return its current snapshot."""
        try:
            self._table.refresh()
            current = self._table.currentSnapshot()
            return None if current is None else int(current.snapshotId())
        except RAISED as fault:
            raise OSError(f"the Iceberg table cannot be read: {str(fault)[:200]}") from None

    def snapshot(self, number: int) -> Snapshot | None:
        """Return a snapshot; None once it has expired."""
        snapshot = self._table.snapshot(number)
        if snapshot is None:
            return None
        parent, summary = snapshot.parentId(), dict(snapshot.summary())
        numbers = {name: int(text) for name, text in summary.items() if str(text).isdecimal()}
        return Snapshot(
            number=number,
            parent=None if parent is None else int(parent),
            appends=str(snapshot.operation()) == "append",
            files=numbers.get("added-data-files", 0),
            rows=numbers.get("added-records"),
            all_files=numbers.get("total-data-files", 0),
            all_rows=numbers.get("total-records"),
        )


def table_of(query: Any, description: str) -> SourceTable | None:
    """Return the table of the source with this description; None where it is not known."""
    try:
        leaves = query._jsq.streamingQuery().logicalPlan().collectLeaves()
        for leaf in (leaves.apply(number) for number in range(leaves.size())):
            scans = str(leaf.nodeName()).startswith("StreamingDataSourceV2ScanRelation")
            if scans and str(leaf.stream().toString()) == description:
                return SourceTable(leaf.relation().table().table())
    except ABSENT:
        return None
    return None
