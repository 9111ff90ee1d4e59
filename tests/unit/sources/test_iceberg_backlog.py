"""The backlog of an Iceberg table from the summaries of its snapshots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contract.backlog_scenarios import Iceberg

TABLE = Path()
"""The table is in memory."""


def offset(number: int, position: int, *, entire: bool = False) -> dict[str, Any]:
    return {
        "endOffset": {
            "version": 1,
            "snapshot_id": number,
            "position": position,
            "scan_all_files": entire,
        }
    }


def rows_left(table: Iceberg, source: dict[str, Any]) -> float:
    backlog = table.reader.backlog(source, 1000.0)
    assert backlog is not None
    assert backlog.amount is not None
    assert backlog.amount.unit == "rows"
    return backlog.amount.value


def test_a_partially_read_snapshot_counts_its_remaining_rows() -> None:
    table = Iceberg(TABLE)
    table.append(10)
    table.append(30)
    assert rows_left(table, offset(1, 0)) == 40
    assert rows_left(table, offset(1, 1)) == 35
    assert rows_left(table, offset(2, 1)) == 15


def test_a_stream_that_scans_all_files_reads_the_complete_table() -> None:
    table = Iceberg(TABLE)
    for rows in (10, 30, 8):
        table.append(rows)
    assert rows_left(table, offset(2, 1, entire=True)) == 30 + 8


def test_skipped_snapshots_are_not_counted() -> None:
    table = Iceberg(TABLE)
    table.append(10)
    table.append(500, appends=False)
    table.append(7)
    assert rows_left(table, offset(1, 2)) == 7
    assert rows_left(table, offset(2, 0)) == 7


def test_a_snapshot_without_a_row_count_makes_the_backlog_absent() -> None:
    table = Iceberg(TABLE)
    table.append(10)
    table.append(20)
    table.snapshots[2] = replace(table.snapshots[2], rows=None)
    assert table.reader.backlog(offset(1, 2), 1000.0) is None


def test_an_expired_snapshot_is_reported_in_one_line() -> None:
    table = Iceberg(TABLE)
    for rows in (10, 20, 30):
        table.append(rows)
    del table.snapshots[1]
    with pytest.raises(LookupError, match="the history of the table no longer has snapshot 1"):
        table.reader.backlog(offset(1, 2), 1000.0)


def test_a_rolled_back_table_continues_after_the_common_snapshot() -> None:
    table = Iceberg(TABLE)
    for rows in (10, 20, 30):
        table.append(rows)
    assert rows_left(table, offset(1, 2)) == 50
    table.snapshots[4] = replace(table.snapshots[3], number=4, parent=2, rows=5)
    assert rows_left(table, offset(1, 2)) == 25


def test_every_call_checks_once_and_reads_only_new_snapshots() -> None:
    table, calls = Iceberg(TABLE), []
    newest, snapshot = table.newest, table.snapshot
    table.newest = lambda: calls.append("newest") or newest()  # type: ignore[method-assign,func-returns-value]
    table.snapshot = lambda number: calls.append("snapshot") or snapshot(number)  # type: ignore[method-assign,func-returns-value]
    for _ in range(50):
        table.append(1)
    rows_left(table, offset(20, 2))
    assert calls.count("snapshot") == 31
    for _ in range(5):
        calls.clear()
        table.append(1)
        calls.clear()
        rows_left(table, offset(20, 2))
        assert calls == ["newest", "snapshot"]
