"""The gauges of a report in Prometheus' text format."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from rheostat.agent.agent_report import Report
from rheostat.agent.gauges import GAUGES, PREFIX

CONTENT_TYPE = CONTENT_TYPE_LATEST


def exposition(report: Report) -> bytes:
    """Return what ``GET /metrics`` answers; an absent gauge has no sample."""
    registry = CollectorRegistry()
    labels = {"application": report.application or ""}
    for name, value in sorted(report.metrics.items()):
        gauge = Gauge(name, GAUGES[name.removeprefix(PREFIX)], [*labels], registry=registry)
        gauge.labels(**labels).set(value)
    halted = Gauge(f"{PREFIX}halted", "1 while decisions are halted", registry=registry)
    halted.set(float(report.halted))
    if report.age_s is not None:
        age = Gauge(f"{PREFIX}tick_age_s", "seconds since the loop has looked", registry=registry)
        age.set(report.age_s)
    return generate_latest(registry)
