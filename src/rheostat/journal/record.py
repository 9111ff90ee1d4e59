"""Converts a record of the loop to one line of JSON and back; unknown fields are ignored."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from rheostat.actions import Action, Recommendation, ReplaceExecutor
from rheostat.model import (
    Decision,
    ExecutorSample,
    GuardChange,
    InFlight,
    Observation,
    Record,
    Rescaling,
    Stage,
)
from rheostat.storage.event_log import known_fields

SCHEMA = 1
_REPLACE = str(ReplaceExecutor(""))
_T = TypeVar("_T")


def to_line(record: Record) -> str:
    """Return the record as one JSON object without line breaks; absent signals are omitted."""
    # NaN is not valid JSON: other readers would reject the complete line.
    return json.dumps({"schema": SCHEMA, **_plain(record)}, separators=(",", ":"), allow_nan=False)


def from_line(line: str) -> Record:
    """Return the record of one line; raises ValueError if it is not a record of this schema."""
    read = json.loads(line)
    if not isinstance(read, dict) or read.get("schema") != SCHEMA:
        raise ValueError(f"not a journal record of schema {SCHEMA}: {line[:80]}")
    return Record(
        t_s=read["t_s"],
        observation=observation_from(read["observation"]) if read.get("observation") else None,
        queries=tuple(observation_from(query) for query in read.get("queries", ())),
        raw=_decision(read["raw"]) if read.get("raw") else None,
        guards=tuple(_make(GuardChange, change) for change in read.get("guards", ())),
        target=read.get("target"),
        actions=tuple(read.get("actions", ())),
        rescaling=_make(Rescaling, read["rescaling"]),
    )


def read_line(line: str | bytes) -> Record | None:
    """Return the record of one line; None if it is truncated or has another schema."""
    try:
        return from_line(line.decode() if isinstance(line, bytes) else line)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def observation_from(read: Mapping[str, Any]) -> Observation:
    """Return the observation for a mapping of field names; unknown names are ignored."""
    # Only nested dataclasses are converted; the other values are plain JSON already.
    nested: dict[str, Any] = {}
    if read.get("in_flight"):
        nested["in_flight"] = _make(InFlight, read["in_flight"])
    if read.get("stages"):
        nested["stages"] = tuple(
            _make(Stage, {**stage, "upstream": tuple(stage.get("upstream", ()))})
            for stage in read["stages"]
        )
    if read.get("by_executor"):
        nested["by_executor"] = {
            name: _make(ExecutorSample, sample) for name, sample in read["by_executor"].items()
        }
    return _make(Observation, {**read, **nested})


def _make(kind: type[_T], read: Mapping[str, Any]) -> _T:
    return kind(**known_fields(kind, read))


def _decision(read: Mapping[str, Any]) -> Decision:
    """Return the decision of a policy; its actions are replacements or recommendations."""
    actions = tuple(
        ReplaceExecutor(text.removeprefix(_REPLACE))
        if text.startswith(_REPLACE)
        else Recommendation(text)
        for text in read.get("actions", ())
    )
    return _make(Decision, {**read, "actions": actions})


def _plain(value: Any) -> Any:
    if isinstance(value, Action):
        return str(value)
    if is_dataclass(value):
        read = {field.name: getattr(value, field.name) for field in fields(value)}
        return {
            name: _plain(item)
            for name, item in read.items()
            if item is not None and item != () and item != {}
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    # A number that is not finite counts as absent, as everywhere else.
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
