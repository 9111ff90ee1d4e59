"""Logs Rheostat's own faults, each kind once: the job continues, and its log stays short."""

from __future__ import annotations

import logging

_log = logging.getLogger("rheostat")


class FaultLog:
    """Warns of each kind of fault once, after its ``context``; the traceback is at level DEBUG."""

    def __init__(self, context: str) -> None:
        self._context = context
        self._logged: set[str] = set()

    def warn(self, fault: Exception) -> str:
        """Warn of a fault of a new kind, and return its kind: its type and its text."""
        kind = f"{type(fault).__name__}: {fault}"
        if kind not in self._logged:
            self._logged.add(kind)
            _log.warning("rheostat: %s: %s", self._context, kind)
            _log.debug("rheostat: where it failed", exc_info=fault)
        return kind
