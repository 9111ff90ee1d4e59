from __future__ import annotations

from rheostat.control.driver_report import Report
from rheostat.operator.external_metrics import application_in, resources, values


def test_metrics_are_reported_in_thousandths_unless_absent_or_old():
    fresh = Report(age_s=1.0, metrics={"rheostat_utilization": 0.7049})
    old = Report(age_s=99.0, metrics=fresh.metrics)
    items = [
        values("rheostat_utilization", "a", report, "now")["items"] for report in (fresh, old, None)
    ]
    assert items[0][0]["value"] == "704m"
    assert items[1:] == [[], []]
    assert values("rheostat_lag_rows", "a", fresh, "now")["items"] == []


def test_every_gauge_is_a_metric_and_the_selector_names_the_application():
    assert {"rheostat_gated_lag_change"} <= {
        resource["name"] for resource in resources()["resources"]
    }
    assert application_in("application=etl") == "etl"
    assert application_in("application in (a,b)") is None


def test_a_clock_set_back_changes_no_value() -> None:
    """The reporter measures ages with a monotonic clock."""
    fresh = Report(age_s=1.0, metrics={"rheostat_busy_ratio": 0.5})
    for now in ("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z"):
        assert values("rheostat_busy_ratio", "a", fresh, now)["items"][0]["value"] == "500m"
