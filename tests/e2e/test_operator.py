"""The operator on a real API server with RBAC and real control APIs; the HPA is Kubernetes' own."""

# mypy: disallow-untyped-calls=False

import json
import sys
import threading
import time

import pytest

pytest.importorskip("kopf", reason="comes with the extra operator")
pytest.importorskip("kubernetes", reason="comes with the extra operator")
pytest.importorskip("prometheus_client", reason="comes with the extra serve")

from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.operator_plane import (
    GROUP,
    Driver,
    Operator,
    resource,
    running_plane,
    say_running,
    until,
)

pytestmark = [pytest.mark.e2e, pytest.mark.thorough, needs_kubernetes]


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    with running_plane(tmp_path_factory.mktemp("plane")) as made:
        yield made


@pytest.fixture(scope="module")
def operator(plane):
    made = Operator(plane)
    made.deploy()
    made.start()
    yield made
    made.kill()


@pytest.fixture
def drive(plane, operator):
    opened = []

    def make(name, size=2, **given):
        driver = Driver(size, **given)
        driver.pod(plane, name)
        opened.append((name, driver))
        return driver

    yield make
    for name, driver in opened:
        driver.close()
        plane.kubectl("delete", "streamapp", name, "--ignore-not-found")
        plane.kubectl("delete", "pod", name, "--force", "--grace-period=0", "--ignore-not-found")


def say(line):
    sys.stderr.write(line + "\n")


def ready(plane, name):
    """Return reason and message of the condition Ready."""
    status = plane.request("GET", f"{GROUP}/{name}").get("status", {})
    conditions = [
        condition for condition in status.get("conditions", ()) if condition["type"] == "Ready"
    ]
    return (conditions[0]["reason"], conditions[0]["message"]) if conditions else ("", "")


def adopted(plane, name):
    """Return whether the operator has written the effective size to the scale sub-resource."""
    return plane.request("GET", f"{GROUP}/{name}")["spec"].get("replicas") is not None


def scale(plane, name, size):
    """Write the scale as kubectl does, regardless of the operator's own writes."""
    read = plane.request("GET", f"{GROUP}/{name}/scale")
    del read["metadata"]["resourceVersion"]
    read["spec"]["replicas"] = size
    plane.request("PUT", f"{GROUP}/{name}/scale", read)


def test_a_put_on_scale_reaches_the_driver(plane, drive):
    driver = drive("etl", hurry=1000.0)
    plane.apply(resource("etl", driver.port, mode="external"))
    until(lambda: adopted(plane, "etl"), "the driver is found")
    took = []
    for size in (5, 3, 8, 1, 4) * 4:
        scale(plane, "etl", size)
        took.append(until(lambda size=size: driver.size == size, f"{size} executors"))
    say(f"scale to decided, n={len(took)}: median {sorted(took)[10]:.3f} s, most {max(took):.3f} s")
    assert driver.requested == [5, 3, 8, 1, 4] * 4
    driver.tick()  # a real loop observes again a few seconds later
    until(lambda: plane.request("GET", f"{GROUP}/etl/scale")["status"]["replicas"] == 4, "status")
    assert "spark-role=executor" in plane.request("GET", f"{GROUP}/etl/scale")["status"]["selector"]


def test_switching_to_external_mode_keeps_the_current_size(plane, drive):
    driver = drive("modes", size=3)
    plane.apply(resource("modes", driver.port, mode="policy"))
    until(lambda: plane.request("GET", f"{GROUP}/modes")["spec"].get("replicas") == 3, "mirrored")
    plane.apply(resource("modes", driver.port, mode="external"))
    until(lambda: driver.control.report().sizing.mode == "external", "told")
    assert (driver.size, driver.requested) == (3, [])


def test_a_contradictory_spec_is_rejected_with_all_errors(plane, operator):
    wrong = resource(
        "wrong",
        1,
        mode="policy",
        limits={"min": 5, "max": 2},
        parameters={"a": 1},
        driver={"selector": {"a": "b"}, "sparkApplication": "c"},
    )
    error_output = plane.kubectl("apply", "-f", "-", stdin=json.dumps(wrong), check=False)
    for part in ("limits.min is above", "no policy is named", "exactly one of"):
        assert part in error_output


def test_errors_outside_the_schema_become_a_condition(plane, drive):
    driver = drive("unknown")
    plane.apply(
        resource("unknown", driver.port, mode="policy", policy="no-such", guards={"budget": -1})
    )
    until(lambda: ready(plane, "unknown")[0] == "Invalid", "said")
    assert "no-such" in ready(plane, "unknown")[1]


def test_a_driver_with_a_different_token_is_reported(plane, drive):
    driver = drive("locked", token="another")
    plane.apply(resource("locked", driver.port, mode="external", replicas=5))
    until(lambda: ready(plane, "locked")[0] == "WrongToken", "said")
    assert driver.size == 2


def test_an_unresponsive_driver_keeps_its_size_in_the_status(plane, drive):
    driver = drive("silent", size=3)
    plane.apply(resource("silent", driver.port, mode="external"))
    until(lambda: ready(plane, "silent")[0] == "Sized", "found")
    driver.close()
    until(lambda: ready(plane, "silent")[0] == "NoAnswer", "said")
    assert plane.request("GET", f"{GROUP}/silent")["status"]["replicas"] == 3


def test_the_younger_of_two_resources_for_one_driver_waits(plane, drive):
    driver = drive("shared")
    plane.apply(resource("shared", driver.port, mode="external"))
    until(lambda: ready(plane, "shared")[0] == "Sized", "found")
    time.sleep(1.1)  # the API's timestamps have a resolution of one second
    second = resource("zz-second", driver.port, mode="external", replicas=7)
    second["spec"]["driver"]["selector"] = {"app": "shared"}
    plane.apply(second)
    until(lambda: ready(plane, "zz-second")[0] == "TwoResources", "said")
    plane.kubectl("delete", "streamapp", "zz-second")
    assert driver.size == 2


def test_deleting_a_resource_keeps_the_job_running(plane, drive):
    driver = drive("leaving")
    plane.apply(resource("leaving", driver.port, mode="external"))
    until(lambda: adopted(plane, "leaving"), "found")
    scale(plane, "leaving", 6)
    plane.kubectl("delete", "streamapp", "leaving", "--wait=true")
    time.sleep(1.5)
    assert driver.size in (2, 6)
    assert "leaving" not in plane.kubectl("get", "streamapp")


def test_without_live_scaling_a_driver_is_drained_and_restarted(plane, operator):
    driver = Driver(2, live=False)
    template = {"spec": {"nodeName": "here", "containers": [{"name": "c", "image": "none"}]}}
    own = {"template": template, "controlPort": driver.port}
    plane.apply(resource("own", 0, mode="external", replicas=2, driver=own))
    pods = "/api/v1/namespaces/default/pods"

    def names():
        pod_list = plane.request("GET", pods + "?labelSelector=rheostat.dev/application=own")
        return [pod["metadata"]["name"] for pod in pod_list["items"]]

    until(lambda: names() == ["own-driver-1"], "started")
    say_running(plane, "own-driver-1")
    until(lambda: ready(plane, "own")[0] == "CannotScale", "found")
    scale(plane, "own", 5)
    until(lambda: driver.drains == 1, "drained, once it has run for a minute", 120)
    until(lambda: _leaving(plane, pods, names()), "stopped")
    fresh = Driver(5, live=False)  # the pod's new driver, on the port of the old one
    plane.kubectl("delete", "pod", "own-driver-1", "--force", "--grace-period=0")
    until(lambda: names() == ["own-driver-2"], "started again")
    env = plane.request("GET", f"{pods}/own-driver-2")["spec"]["containers"][0]["env"]
    assert {"name": "RHEOSTAT_EXECUTORS", "value": "5"} in env
    for closed_driver in (driver, fresh):
        closed_driver.close()
    plane.kubectl("delete", "streamapp", "own")
    plane.kubectl("delete", "pod", "own-driver-2", "--force", "--grace-period=0")


def test_a_controller_that_fights_for_the_scale_causes_few_changes_and_is_named(plane, drive):
    """Write the sizes 3 and 6 alternately every second: to a driver that is scaled live, and to one
    that would be restarted."""
    live, stiff = drive("fought", size=3), Driver(3, live=False)
    plane.apply(resource("fought", live.port, mode="external"))
    template = {"spec": {"nodeName": "here", "containers": [{"name": "c", "image": "none"}]}}
    own = {"template": template, "controlPort": stiff.port}
    plane.apply(resource("fought-own", 0, mode="external", replicas=3, driver=own))
    until(lambda: "fought-own-driver-1" in plane.kubectl("get", "pods"), "started")
    say_running(plane, "fought-own-driver-1")
    until(lambda: adopted(plane, "fought"), "found")
    until(lambda: ready(plane, "fought-own")[0] == "CannotScale", "found")
    reasons = set()
    for second in range(30):
        for name in ("fought", "fought-own"):
            scale(plane, name, 6 - 3 * (second % 2))
        time.sleep(1)
        if second > 14:
            reasons.add((ready(plane, "fought")[0], ready(plane, "fought-own")[0]))
    say(f"30 writes in 30 s: {len(live.requested)} changes of size, {stiff.drains} restarts")
    assert reasons == {("Contested", "Waiting")}
    assert "check whether a second controller writes it" in ready(plane, "fought")[1]
    assert (len(live.requested) <= 7, live.size, stiff.drains) == (True, 6, 0)
    stiff.close()
    plane.kubectl("delete", "streamapp", "fought-own")
    plane.kubectl("delete", "pod", "fought-own-driver-1", "--force", "--grace-period=0")


def test_a_controller_that_writes_unread_sizes_is_named(plane, drive):
    driver = drive("unread", size=3)
    plane.apply(resource("unread", driver.port, mode="policy"))
    until(lambda: plane.request("GET", f"{GROUP}/unread")["spec"].get("replicas") == 3, "mirrored")
    for _ in range(3):
        scale(plane, "unread", 6)
        until(
            lambda: plane.request("GET", f"{GROUP}/unread")["spec"].get("replicas") == 3, "restored"
        )
    until(lambda: ready(plane, "unread")[0] == "ScaleUnread", "named")
    assert "another controller keeps writing 6 into scale" in ready(plane, "unread")[1]
    assert (driver.size, driver.requested) == (3, [])


def _leaving(plane, pods, names):
    return all(
        "deletionTimestamp" in plane.request("GET", f"{pods}/{name}")["metadata"] for name in names
    )


def test_an_operator_killed_at_thirty_points_loses_and_repeats_nothing(plane, operator):
    """The operator dies k x 10 ms after a size was requested, and another one starts."""
    driver = Driver(2, hurry=1000.0)
    driver.pod(plane, "killed")
    plane.apply(resource("killed", driver.port, mode="external"))
    until(lambda: adopted(plane, "killed"), "found")
    wanted = []
    for point in range(30):
        size = 3 + point % 5
        wanted.append(size)
        scale(plane, "killed", size)
        time.sleep(0.01 * point)
        operator.kill()
        operator.start()
        until(lambda size=size: driver.size == size, f"{size} executors at point {point}")
    assert driver.requested == wanted
    driver.close()
    plane.kubectl("delete", "streamapp", "killed")


def test_two_hundred_applications_need_less_than_a_tenth_of_a_core(plane):
    """At rest, with the default round of ten seconds: less than a tenth of a core."""
    operator = Operator(plane, every_s=10.0)
    operator.deploy()
    drivers = [Driver(2) for _ in range(10)]
    stop = threading.Event()

    def tick():
        while not stop.wait(2.0):
            for driver in drivers:
                driver.tick()

    threading.Thread(target=tick, daemon=True).start()
    for number in range(200):
        drivers[number % 10].pod(plane, f"many-{number}")
    plane.apply(*(resource(f"many-{n}", drivers[n % 10].port, mode="shadow") for n in range(200)))
    operator.start()
    until(lambda: ready(plane, "many-199")[0] == "Sized", "all are found", 180)
    until(lambda: ready(plane, "many-100")[0] == "Sized", "all are found", 180)
    time.sleep(20)
    before, begun = operator.cpu_s(), time.monotonic()
    time.sleep(60)
    share = (operator.cpu_s() - before) / (time.monotonic() - begun)
    say(f"200 applications at rest: {100 * share:.1f} % of a core")
    stop.set()
    operator.kill()
    for driver in drivers:
        driver.close()
    plane.kubectl("delete", "streamapp", "--all")
    plane.kubectl("delete", "pod", "--all", "--force", "--grace-period=0")
    assert share < 0.10
