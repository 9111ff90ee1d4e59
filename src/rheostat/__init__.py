"""Rheostat autoscales a running PySpark Structured Streaming job: live, without a restart, and it
explains every decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rheostat.config import ExportOptions, GuardOptions, JournalOptions, LoopOptions
from rheostat.errors import BadInput, RheostatError
from rheostat.model import Decision, Limits, Observation, Slo
from rheostat.ports import Policy

if TYPE_CHECKING:
    from rheostat.api import Handle, attach, doctor, read_once, receive, shadow
    from rheostat.journal.frames import read_journal

__all__ = [
    "BadInput",
    "Decision",
    "ExportOptions",
    "GuardOptions",
    "Handle",
    "JournalOptions",
    "Limits",
    "LoopOptions",
    "Observation",
    "Policy",
    "RheostatError",
    "Slo",
    "attach",
    "doctor",
    "read_journal",
    "read_once",
    "receive",
    "shadow",
]

_NEED_PYSPARK = ("Handle", "attach", "doctor", "read_once", "receive", "shadow")


def __dir__() -> list[str]:
    """Return all public names, including those that are imported on first use."""
    return sorted({*globals(), *__all__, "__version__"})


def __getattr__(name: str) -> Any:
    """Import a name on first use; raises BadInput if it needs PySpark, which is missing."""
    if name in _NEED_PYSPARK:
        return _with_pyspark(name)
    if name == "read_journal":
        from rheostat.journal.frames import read_journal

        return read_journal
    if name == "__version__":
        from importlib.metadata import version

        return version("rheostat")
    raise AttributeError(f"module 'rheostat' has no attribute {name!r}")


def _with_pyspark(name: str) -> Any:
    from importlib import import_module

    try:
        return getattr(import_module("rheostat.api"), name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise BadInput(
            f"rheostat.{name} needs PySpark 3.5 or later, which is not installed in this Python:"
            " pip install pyspark"
        ) from None
