from rheostat.control.driver_report import Report
from rheostat.operator.driver_pod import driver_of, driver_pod
from rheostat.operator.external_metrics import application_in, resources, values
from rheostat.operator.observed import Condition, Status, status_json, status_of
from rheostat.operator.streaming_application import Application


def test_a_status_survives_a_json_round_trip():
    conditions = (Condition(type="Ready", true=False, reason="NoDriver", message="none"),)
    status = Status(observed_generation=2, replicas=3, restarting_to=5, conditions=conditions)
    assert status_of(status_json(status, {}, "now")) == status


def test_a_condition_keeps_its_time_while_its_status_is_unchanged():
    ready = Status(conditions=(Condition(type="Ready", true=True, reason="Sized"),))
    first = status_json(ready, {}, "t1")
    not_ready = Status(conditions=(Condition(type="Ready", true=False, reason="NoAnswer"),))
    assert status_json(ready, first, "t2")["conditions"][0]["lastTransitionTime"] == "t1"
    assert status_json(not_ready, first, "t2")["conditions"][0]["lastTransitionTime"] == "t2"


def test_a_driver_pod_records_its_number_size_and_owner():
    template = {"spec": {"containers": [{"name": "d", "env": [{"name": "A", "value": "b"}]}]}}
    application = Application(name="etl", namespace="n", uid="u", template=template)
    pod = driver_pod(application, 2, 5)
    assert pod["spec"]["containers"][0]["env"][0] == {"name": "RHEOSTAT_EXECUTORS", "value": "5"}
    assert pod["metadata"]["ownerReferences"][0]["uid"] == "u"
    pod["metadata"]["uid"] = "p"
    assert (driver_of(pod).incarnation, driver_of(pod).size) == (2, 5)
    assert "env" in template["spec"]["containers"][0]
    assert len(template["spec"]["containers"][0]["env"]) == 1


def test_an_ended_pod_reports_its_reason():
    killed = {"state": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}
    pod = {
        "metadata": {"name": "d", "uid": "u"},
        "status": {"phase": "Failed", "containerStatuses": [killed, {"state": {"running": {}}}]},
    }
    assert driver_of(pod).end == "Failed, OOMKilled (exit code 137)"
    evicted = {"phase": "Failed", "reason": "Evicted"}
    assert driver_of({**pod, "status": evicted}).end == "Evicted"
    assert driver_of({**pod, "status": {"phase": "Running"}}).end == ""


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


def test_a_clock_set_back_changes_no_condition_time_or_age():
    """The reporter measures ages with a monotonic clock."""
    ready = Status(conditions=(Condition(type="Ready", true=True, reason="Sized"),))
    first = status_json(ready, {}, "2026-01-02T00:00:00Z")
    second = status_json(ready, first, "2026-01-01T00:00:00Z")
    assert second == first
    fresh = Report(age_s=1.0, metrics={"rheostat_busy_ratio": 0.5})
    for now in ("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z"):
        assert values("rheostat_busy_ratio", "a", fresh, now)["items"][0]["value"] == "500m"
