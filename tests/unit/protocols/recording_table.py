"""A table that records the rows taken from it."""

from __future__ import annotations

from typing import Any

from rheostat.protocols.transition_table import Row, Table


class RecordingTable:
    """Replaces ``table``; ``taken`` are the rows taken so far."""

    def __init__(self, table: Table[Any, Any]) -> None:
        self._table = table
        self.taken: set[Row[Any, Any]] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def step(self, phase: str, *facts: Any) -> Row[Any, Any] | None:
        """Take a row as the table does, and record it."""
        row = self._table.step(phase, *facts)
        self.taken |= {row} if row else set()
        return row

    def missing(self) -> set[tuple[str, str]]:
        """Return phase and event of the rows that were not taken."""
        return {row.cells()[:2] for row in self._table.rows if row not in self.taken}
