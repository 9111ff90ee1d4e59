from __future__ import annotations

from rheostat.operator.driver_pod import driver_of, driver_pod
from rheostat.operator.streaming_application import Application


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
