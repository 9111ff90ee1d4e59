"""Validates a recording: the first violation is reported in one line with row and value."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.replay.tables import FIELDS, KINDS
from rheostat.signals.true_rates import check_graph

_FLAGS = frozenset(field.name for field in fields(Observation) if "bool" in str(field.type))
_SHARES = ("busy", "idle")
_CPU = ("cpu", "cpu_python")
_MOST_CPU = 10.0
"""Largest CPU use per slot, relative to its request: a JVM may use more than its one core, but
values from 10 on are percentages."""


@dataclass(frozen=True, slots=True)
class Moment:
    """An observation and its location in the recording."""

    where: str
    observation: Observation


def check_columns(columns: Sequence[str], origin: str, names: Mapping[str, str]) -> None:
    """Raise BadInput for a table without columns, duplicate or unknown ones, or a missing time."""
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise BadInput(f"{origin}: the column {twice!r} occurs twice")
    unknown = [column for name, column in names.items() if name not in FIELDS]
    if unknown:
        near = difflib.get_close_matches(unknown[0], FIELDS, n=1)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(FIELDS)}"
        noun = "columns" if len(unknown) > 1 else "column"
        raise BadInput(
            f"{origin}: unknown {noun} {', '.join(map(repr, unknown))} in the header; {meant}"
        )
    if "t_s" not in names:
        raise BadInput(
            f"{origin}: there is no column t_s (the time in seconds); the columns are"
            f" {', '.join(columns) or 'none'}"
        )


def check(moment: Moment, names: Mapping[str, str]) -> None:
    """Raise BadInput for negative or infinite numbers, wrong shares, and cyclic graphs."""
    check_numbers(moment, names)
    observation = moment.observation
    for names_of, most, unit in ((_SHARES, 1.0, "of time"), (_CPU, _MOST_CPU, "of a slot")):
        for name in names_of:
            value = getattr(observation, name)
            # Computed shares may exceed 1 by rounding.
            if value is not None and value > most * (1 + 1e-9):
                message = (
                    f"{moment.where}: {names.get(name, name)} is a share {unit}, 0 to 1, but it is"
                    f" {value:g}"
                )
                raise BadInput(f"{message}; divide percent by 100, ms/s by 1000")
    try:
        check_graph(observation)
    except BadInput as wrong:
        raise BadInput(f"{moment.where}: {wrong}") from None


def check_numbers(moment: Moment, names: Mapping[str, str]) -> None:
    """Raise BadInput for a number that is missing, negative or infinite; ``names`` are the columns
    of fields.
    """
    for field in fields(moment.observation):
        _check_numbers(
            names.get(field.name, field.name),
            getattr(moment.observation, field.name),
            moment.where,
            signed=field.name == "t_s",
        )


def check_times(moments: Iterable[Moment]) -> None:
    """Raise BadInput for times that do not rise; only different queries may share a time."""
    before: Moment | None = None
    at_once: set[str | None] = set()
    for moment in moments:
        observation = moment.observation
        earlier = before.observation.t_s if before else -math.inf
        if observation.t_s < earlier:
            raise BadInput(
                f"{moment.where}: times must rise, but {observation.t_s:.15g} s comes after"
                f" {earlier:.15g} s"
            )
        if observation.t_s == earlier and (
            observation.query is None or None in at_once or observation.query in at_once
        ):
            raise BadInput(
                f"{moment.where}: the time {observation.t_s:.15g} s occurs twice (before in"
                f" {before.where if before else ''})"
            )
        # Queries of one tick may be in any order, but each only once.
        at_once = (
            {observation.query} if observation.t_s > earlier else at_once | {observation.query}
        )
        before = moment


def _check_numbers(column: str, value: Any, where: str, signed: bool = False) -> None:
    if column in _FLAGS:
        if not isinstance(value, bool | None):
            raise BadInput(f"{where}: {column} must be true or false, but it is {value!r}")
        return
    if isinstance(value, bool) or (
        KINDS.get(column) in ("int", "float", "bool") and not isinstance(value, int | float | None)
    ):
        raise BadInput(f"{where}: {column} must be a number, but it is {value!r}")
    if isinstance(value, int | float):
        if not math.isfinite(value):
            raise BadInput(f"{where}: {column} must be a finite number, but it is {value}")
        if value < 0 and not signed:
            raise BadInput(f"{where}: {column} must be at least 0, but it is {value:.15g}")
    for name, item in _items(value):
        if isinstance(item, str) and name not in ("name", "upstream"):
            raise BadInput(f"{where}: {name} in {column} must be a number, but it is {item!r}")
        _check_numbers(f"{name} in {column}", item, where)


def _items(value: Any) -> Iterable[tuple[str, Any]]:
    if is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    items = value if isinstance(value, tuple) else ()
    return [(getattr(item, "name", "item"), item) for item in items if is_dataclass(item)]
