"""The responses of the API ``external.metrics.k8s.io``, as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rheostat.control.driver_report import Report
from rheostat.metrics.catalog import GAUGES

API = "external.metrics.k8s.io/v1beta1"
STALE_S = 60.0
"""Seconds without a run of the driver's loop after which its metrics are outdated."""


def resources() -> dict[str, Any]:
    """Return the discovery document, in which every gauge is a metric."""
    listed = [
        {
            "name": name,
            "singularName": "",
            "namespaced": True,
            "kind": "ExternalMetricValueList",
            "verbs": ["get"],
        }
        for name in GAUGES
    ]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": API, "resources": listed}


def application_in(selector: str) -> str | None:
    """Return the application that a selector such as ``application=NAME`` names; else None."""
    match = re.fullmatch(r"\s*application\s*==?\s*([\w.-]+)\s*", selector)
    return match[1] if match else None


def values(metric: str, application: str, report: Report | None, now: str) -> dict[str, Any]:
    """Return an HPA's metric list in thousandths; an empty (absent) one blocks scaling in."""
    is_fresh = report is not None and report.age_s is not None and report.age_s <= STALE_S
    value = report.metrics.get(metric) if report and is_fresh else None
    items = [] if value is None else [_item(metric, application, value, now)]
    return {"kind": "ExternalMetricValueList", "apiVersion": API, "metadata": {}, "items": items}


def _item(metric: str, application: str, value: float, now: str) -> Mapping[str, Any]:
    return {
        "metricName": metric,
        "metricLabels": {"application": application},
        "timestamp": now,
        "value": f"{int(round(value * 1000, 6))}m",
    }
