"""A cell of a recording and the value of a field of ``Observation`` that it stands for."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from rheostat.errors import BadInput
from rheostat.journal.record import observation_from
from rheostat.model import Observation

FIELDS = tuple(field.name for field in fields(Observation))
_KINDS = {field.name: str(field.type).split(" ")[0] for field in fields(Observation)}
_ABSENT = frozenset({"nan", "null", "none", "na", "n/a"})
_MAPS = frozenset({"inputs", "batch_parts_s", "by_executor"})


def observation_of(cells: Mapping[str, Any], names: Mapping[str, str], where: str) -> Observation:
    """Return the observation in the cells of a row, by field; ``names`` are the recording's column
    names.

    Empty cells, NaN and null are absent. Raises BadInput, with ``where``, for a wrong kind of
    value.
    """
    values = {
        name: _value(name, cell, names.get(name, name), where) for name, cell in cells.items()
    }
    present = {name: value for name, value in values.items() if value is not None}
    if "t_s" not in present:
        raise BadInput(
            f"{where}: {names.get('t_s', 't_s')} is empty; every row needs its time in seconds"
        )
    try:
        return observation_from(present)
    except (TypeError, ValueError, AttributeError) as error:
        nested = {name: value for name, value in present.items() if isinstance(value, dict | list)}
        raise BadInput(
            f"{where}: a nested value is not as it should be ({error}):"
            f" {json.dumps(nested, default=str)[:200]}"
        ) from None


def _value(name: str, cell: Any, column: str, where: str) -> Any:
    kind = _KINDS[name]
    text = cell.strip().lower() if isinstance(cell, str) else None
    if cell is None or text == "" or (isinstance(cell, float) and math.isnan(cell)):
        return None
    # Before the words for absent: an application may be called "none".
    if kind == "str":
        return str(cell)
    if text in _ABSENT:
        return None
    if kind == "bool":
        return _flag(cell, text, column, where)
    if kind in ("float", "int"):
        return _number(cell, kind, column, where)
    return _nested(name, cell, column, where)


def _flag(cell: Any, text: str | None, column: str, where: str) -> bool:
    # A bool of Arrow or pandas reads as its text, too.
    known = {"true": True, "1": True, "false": False, "0": False}.get(text or str(cell).lower())
    if known is None:
        raise BadInput(f"{where}: {column} must be true or false, but it is {cell!r}")
    return known


def _number(cell: Any, kind: str, column: str, where: str) -> float | int:
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(f"{where}: {column} must be a number, but it is {cell!r}") from None
    if not math.isfinite(number):
        raise BadInput(f"{where}: {column} must be a finite number, but it is {cell}")
    if kind == "int" and not number.is_integer():
        raise BadInput(f"{where}: {column} must be a whole number, but it is {cell}")
    return int(number) if kind == "int" else number


def _nested(name: str, cell: Any, column: str, where: str) -> Any:
    try:
        # Python's reader takes NaN and Infinity, which are no JSON.
        value = json.loads(cell, parse_constant=_refuse) if isinstance(cell, str) else _plain(cell)
    except ValueError as error:
        raise BadInput(
            f"{where}: {column} must be JSON, but it is {str(cell)[:80]!r} ({error})"
        ) from None
    if name in _MAPS and isinstance(value, list):  # a map of Arrow is a list of pairs
        value = (
            dict(value)
            if all(isinstance(pair, list) and len(pair) == 2 for pair in value)
            else value
        )
    wanted = list if name == "stages" else dict
    if value is not None and not isinstance(value, wanted):
        raise BadInput(
            f"{where}: {column} must be a JSON {'list' if wanted is list else 'object'}, but it is"
            f" {str(cell)[:80]!r}"
        )
    if name == "stages" and any(
        isinstance(stage, dict) and not isinstance(stage.get("upstream", []), list)
        for stage in value or ()
    ):
        raise BadInput(
            f"{where}: upstream in {column} must be a list of names, but it is not:"
            f" {str(cell)[:80]!r}"
        )
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _plain(value: Any) -> Any:
    """Return a value of Arrow, pandas or Spark as plain Python; None in objects is left out."""
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
