"""Pushed records, whose ids distinguish retries from new records."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from rheostat.errors import BadInput

MOST_ID_BYTES = 256
_SHAPE = '{"id": "...", "value": "..."}'


@dataclass(frozen=True, slots=True)
class PushedRecord:
    """A record; ``id`` is unique among all senders, and the same for every retry."""

    id: str
    value: str


def from_json_lines(body: bytes) -> list[PushedRecord]:
    """Return the records of a body of JSON lines; raises BadInput for the first bad line."""
    records = []
    for number, line in enumerate(_text(body).splitlines(), 1):
        if not line.strip():
            continue
        try:
            read = json.loads(line)
        except ValueError:
            raise BadInput(f"line {number} is no JSON: each line must be {_SHAPE}") from None
        if not isinstance(read, dict):
            raise BadInput(f"line {number} is no object: each line must be {_SHAPE}")
        records.append(_record(read.get("id"), read.get("value"), number))
    return records


def from_tab_lines(lines: Iterable[bytes]) -> list[PushedRecord]:
    """Return the records of lines ``id TAB value``; raises BadInput for an invalid line."""
    records = []
    for number, line in enumerate(lines, 1):
        name, tab, value = _text(line).rstrip("\r\n").partition("\t")
        if not tab:
            raise BadInput(f"line {number} must be id, a tab and the value")
        records.append(_record(name, value, number))
    return records


def _record(name: object, value: object, number: int) -> PushedRecord:
    if not isinstance(name, str) or not name:
        raise BadInput(
            f"line {number} has no id: without one a record that is sent again cannot be"
            " distinguished from a new one"
        )
    if len(name.encode()) > MOST_ID_BYTES:
        raise BadInput(f"the id of line {number} is longer than {MOST_ID_BYTES} bytes")
    if not isinstance(value, str):
        raise BadInput(f"the value of line {number} must be a text, but it is {value!r:.40}")
    return PushedRecord(name, value)


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput("the data sent is not UTF-8") from None
