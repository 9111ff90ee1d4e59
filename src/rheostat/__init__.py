"""Rheostat sizes a running PySpark Structured Streaming job: live, without a restart, every
decision explained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rheostat.errors import BadInput, RheostatError
from rheostat.model import Decision, Limits, Observation, Slo

if TYPE_CHECKING:
    from rheostat.doctor.examination import examine as doctor
    from rheostat.spark.handle import Handle
    from rheostat.spark.session import attach, shadow

__all__ = [
    "BadInput",
    "Decision",
    "Handle",
    "Limits",
    "Observation",
    "RheostatError",
    "Slo",
    "attach",
    "doctor",
    "shadow",
]


def __getattr__(name: str) -> Any:
    """Import what needs PySpark only when it is asked for."""
    if name in ("Handle", "attach", "shadow"):
        from rheostat.spark import handle, session

        return handle.Handle if name == "Handle" else getattr(session, name)
    if name == "doctor":
        from rheostat.doctor.examination import examine

        return examine
    if name == "__version__":
        from importlib.metadata import version

        return version("rheostat")
    raise AttributeError(f"module 'rheostat' has no attribute {name!r}")
