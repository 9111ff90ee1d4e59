"""The report of an application: its sizing, its size and its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rheostat.control.sizing import Sizing, sizing_of, to_json
from rheostat.storage.event_log import known_fields

SCHEMA = 1
TOKEN_VARIABLE = "RHEOSTAT_TOKEN"  # noqa: S105  (a variable's name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The state of a driver's autoscaler at one moment.

    ``cannot`` lists what is impossible and why; ``executors`` are registered; ``target`` is the
    effective target. ``draining`` is true once the end of the queries was requested, ``drained``
    once they have ended. ``contested`` states why a size was held against a second writer, empty
    without one. ``age_s`` is the time since the last tick, None before the first. ``metrics`` are
    the known gauges by name.
    """

    application: str | None = None
    sizing: Sizing = field(default_factory=Sizing)
    can_scale: bool = True
    cannot: tuple[str, ...] = ()
    executors: int | None = None
    target: int | None = None
    phase: str = "idle"
    detail: str = ""
    reason: str = ""
    contested: str = ""
    halted: bool = False
    draining: bool = False
    drained: bool = False
    age_s: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)


def report_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON values."""
    plain = {option.name: getattr(report, option.name) for option in fields(report)}
    return {**plain, "schema": SCHEMA, "sizing": to_json(report.sizing)}


def report_of(read: Any) -> Report:
    """Return the report in JSON values; unknown names are ignored. Raises ValueError for anything
    but a report of this schema.
    """
    if not isinstance(read, Mapping) or read.get("schema") != SCHEMA:
        raise ValueError(f"not the report of a control API of schema {SCHEMA}: {read!r:.80}")
    given = known_fields(Report, read)
    given["sizing"] = sizing_of(given.get("sizing", {}))
    given["cannot"] = tuple(given.get("cannot", ()))
    return Report(**given)
