"""Append-only logs of typed events: one JSON object per line of a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from rheostat.storage.file_system import FileSystem

T = TypeVar("T")


class EventLog(Generic[T]):
    """The events in the file ``name``, which has one writer.

    ``to_json`` and ``from_json`` convert an event. A line that a crash has torn, that a later
    version has written, or for which ``from_json`` returns None, is skipped.
    """

    def __init__(
        self,
        files: FileSystem,
        name: str,
        to_json: Callable[[T], Mapping[str, Any]],
        from_json: Callable[[dict[str, Any]], T | None],
    ) -> None:
        self._files = files
        self._name = name
        self._to_json = to_json
        self._from_json = from_json

    def append(self, event: T) -> None:
        """Add an event; raises StorageError where that is impossible."""
        line = json.dumps(self._to_json(event), separators=(",", ":"))
        self._files.append(self._name, f"{line}\n")

    def read(self) -> Iterator[T]:
        """Yield the events in order; none where there is no file. Raises StorageError."""
        for line in (self._files.read_text(self._name) or "").splitlines():
            try:
                event = self._from_json(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError):
                continue
            if event is not None:
                yield event


def known_fields(kind: type[Any], read: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a dataclass's fields; a newer version may have written others."""
    return {name: value for name, value in read.items() if name in kind.__dataclass_fields__}
