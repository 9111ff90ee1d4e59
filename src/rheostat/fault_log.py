"""Faults of ours, told once a kind: the job goes on, and its log is not filled."""

from __future__ import annotations

import logging

_log = logging.getLogger("rheostat")


class FaultLog:
    """Warns of each kind of fault once, with ``what`` failed; the traceback is at level DEBUG."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._said: set[str] = set()

    def say(self, fault: Exception) -> str:
        """Warn of a fault that was not told before, and return its kind: its type and its text."""
        kind = f"{type(fault).__name__}: {fault}"
        if kind not in self._said:
            self._said.add(kind)
            _log.warning("rheostat: %s: %s", self._what, kind)
            _log.debug("rheostat: where it failed", exc_info=fault)
        return kind
