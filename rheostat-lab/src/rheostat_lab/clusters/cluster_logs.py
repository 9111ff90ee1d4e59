"""Finds the cause of a failure in the logs of a cluster's components."""

from __future__ import annotations

from pathlib import Path

_SIGNS = ("Exception", "ERROR", "Error", "error", "fatal")
_MOST = 300


def trouble(log: Path) -> str:
    """Return the most informative line of a log about a failure, at most 300 characters."""
    try:
        text = log.read_text(errors="replace")
    except OSError:
        text = ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if any(sign in line for sign in _SIGNS)]
    return (errors or lines or ["the log is empty"])[-1][:_MOST]
