"""Rheostat sizes a running PySpark Structured Streaming job: live, without a restart, every
decision explained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rheostat.config import GuardOptions, JournalOptions, LoopOptions
from rheostat.errors import BadInput, RheostatError
from rheostat.model import Decision, Limits, Observation, Slo
from rheostat.ports import Policy

if TYPE_CHECKING:
    from rheostat.diagnosis.examination import examine as doctor
    from rheostat.spark.fleet.read_once import read_once
    from rheostat.spark.fleet.receive_into import receive
    from rheostat.spark.handle import Handle
    from rheostat.spark.session import attach, shadow

__all__ = [
    "BadInput",
    "Decision",
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
    "read_once",
    "receive",
    "shadow",
]

_NEED_PYSPARK = {
    "Handle": "rheostat.spark.handle:Handle",
    "attach": "rheostat.spark.session:attach",
    "doctor": "rheostat.diagnosis.examination:examine",
    "read_once": "rheostat.spark.fleet.read_once:read_once",
    "receive": "rheostat.spark.fleet.receive_into:receive",
    "shadow": "rheostat.spark.session:shadow",
}


def __dir__() -> list[str]:
    """Return all public names, also of what is imported only when it is asked for."""
    return sorted({*globals(), *__all__, "__version__"})


def __getattr__(name: str) -> Any:
    """Import what needs PySpark only when it is asked for; raises BadInput where there is none."""
    if name in _NEED_PYSPARK:
        return _with_pyspark(name)
    if name == "__version__":
        from importlib.metadata import version

        return version("rheostat")
    raise AttributeError(f"module 'rheostat' has no attribute {name!r}")


def _with_pyspark(name: str) -> Any:
    from importlib import import_module

    module, _, attribute = _NEED_PYSPARK[name].partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise BadInput(
            f"rheostat.{name} needs PySpark 3.5 or later, which is not installed in this Python:"
            " pip install pyspark"
        ) from None
