"""The metrics of a driver in the text format of Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from rheostat.control.driver_report import Report
from rheostat.control.gauges import GAUGES, PREFIX


def exposition(report: Report) -> bytes:
    """Return the gauges as text; an absent gauge has no sample."""
    registry = CollectorRegistry()
    labels = {"application": report.application or ""}
    for name, value in sorted(report.metrics.items()):
        gauge = Gauge(name, GAUGES[name.removeprefix(PREFIX)], [*labels], registry=registry)
        gauge.labels(**labels).set(value)
    halted = Gauge(f"{PREFIX}halted", "1 while decisions are halted", registry=registry)
    halted.set(float(report.halted))
    if report.age_s is not None:
        age = Gauge(f"{PREFIX}tick_age_s", "seconds since the last tick", registry=registry)
        age.set(report.age_s)
    return generate_latest(registry)
