"""What the logs of a cluster's parts say of what went wrong."""

from __future__ import annotations

from pathlib import Path

_SIGNS = ("Exception", "ERROR", "Error", "error", "fatal")
_MOST = 300


def trouble(log: Path) -> str:
    """Return the line of a log that says best what went wrong, in at most 300 characters."""
    try:
        text = log.read_text(errors="replace")
    except OSError:
        text = ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if any(sign in line for sign in _SIGNS)]
    return (errors or lines or ["the log is empty"])[-1][:_MOST]
