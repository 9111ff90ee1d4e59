"""Every backlog reader meets the contract of the port; a module without a scenario fails here."""

from __future__ import annotations

import importlib
import pkgutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.contract import backlog_scenarios
from tests.contract.backlog_scenarios import Scenario

import rheostat.sources
from rheostat.sources.backlog_reader import BacklogReader


def readers() -> dict[str, type[Any]]:
    """Return every class of the package that counts a backlog, by its name."""
    names = [module.name for module in pkgutil.iter_modules(rheostat.sources.__path__)]
    modules = [importlib.import_module(f"rheostat.sources.{name}") for name in names]
    return {
        value.__name__: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and hasattr(value, "between") and value is not BacklogReader
    }


@pytest.fixture(params=sorted(readers()))
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Scenario:
    kind = request.param.removesuffix("Backlog").replace("File", "Files")
    made: Scenario = getattr(backlog_scenarios, kind)(tmp_path)
    return made


def backlog_of(source: Scenario, end: Any, now: float) -> float:
    backlog = source.reader.backlog(source.entry(end), now)
    assert backlog is not None
    assert backlog.t_s <= now
    assert backlog.amount is not None
    return backlog.amount.value


def test_the_backlog_is_what_was_appended_since_the_offset(source: Scenario) -> None:
    source.append(10)
    end = source.read_all()
    assert backlog_of(source, end, 1000.0) == 0
    for number, rows in enumerate((3, 40, 7), 1):
        source.append(rows)
        expected = sum((3, 40, 7)[:number]) * source.units_per_row
        assert backlog_of(source, end, 1000.0 + 100 * number) == expected
    newest = source.read_all()
    assert backlog_of(source, newest, 2000.0) == 0


def test_amounts_between_offsets_add_up_to_the_backlog(source: Scenario) -> None:
    ends = []
    for rows in (4, 5, 6, 7, 8, 9):
        source.append(rows)
        ends.append(source.read_all())
        backlog_of(source, ends[0], 1000.0 * len(ends))
    between = source.reader.between
    parts = [between(a, b) for a, b in pairwise(ends)]
    assert [part.value for part in parts if part] == [
        rows * source.units_per_row for rows in (5, 6, 7, 8, 9)
    ]
    assert between(ends[0], ends[-1]) == type(parts[0])(35 * source.units_per_row, parts[0].unit)  # type: ignore[misc,union-attr]
    assert between(ends[-1], ends[-1]) == type(parts[0])(0, parts[0].unit)  # type: ignore[misc,union-attr]


@pytest.mark.parametrize("offset", [None, "opaque", [1], {"token": "a1"}])
def test_an_opaque_offset_has_no_backlog(source: Scenario, offset: Any) -> None:
    source.append(1)
    fault, backlog = "", None
    try:
        backlog = source.reader.backlog({"endOffset": offset}, 1000.0)
    except (OSError, ValueError, LookupError) as raised:
        fault = str(raised)
    assert backlog is None
    assert "\n" not in fault
    source.reader.close()


def test_the_port_has_three_methods() -> None:
    methods = {name for name in vars(BacklogReader) if not name.startswith("_")}
    assert methods == {"backlog", "between", "close"}
