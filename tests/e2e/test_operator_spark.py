"""Real Spark behind the operator: drivers and executors are pods of a real control plane, and
writing ``scale`` changes the executors of a running query."""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

pytest.importorskip("kopf", reason="comes with the extra operator")
pytest.importorskip("kubernetes", reason="comes with the extra operator")
pytest.importorskip("prometheus_client", reason="comes with the extra serve")

from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.operated_spark import (
    PORT,
    Driver,
    Place,
    resource,
    rows,
    running,
    say,
    until,
)

from rheostat_lab.clusters.kubernetes.objects import create, delete

pytestmark = [pytest.mark.e2e, pytest.mark.thorough, needs_kubernetes]


@pytest.fixture(scope="module")
def place_(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("operated"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_a_size_on_scale_is_applied_and_a_deleted_resource_keeps_the_job(
    place_: Place,
) -> None:
    create(place_.plane, place_.pod("live"))
    driver = Driver(place_, "live")
    until(lambda: driver.at_work() == 1, "the query runs")
    create(place_.plane, resource("live"))
    until(lambda: place_.ready("live") == "Sized", "the operator has found the driver")
    place_.scale("live", 3)
    until(lambda: driver.at_work() == 3, "3 executors at work")
    place_.scale("live", 1)
    until(lambda: driver.at_work() == 1, "1 executor is left")
    place_.scale("live", 3)
    delete(place_.plane, resource("live"))
    until(lambda: not place_.resources(), "the resource is gone")
    until(lambda: driver.status()["phase"] in ("steady", "idle"), "the job is at rest")
    size = driver.status()["executors"]
    assert size in (1, 3)
    until(lambda: len(place_.pods("executor")) == size, "no pod is left over")
    before = len(rows(place_.folder / "live"))
    until(lambda: len(rows(place_.folder / "live")) > before, "batches go on")
    delete(place_.plane, place_.pod("live"))
    until(lambda: not place_.pods("driver") and not place_.pods("executor"), "all is gone")
    committed = rows(place_.folder / "live")
    assert committed == list(range(len(committed)))


def test_without_live_scaling_a_real_job_is_drained_and_restarted(
    place_: Place,
) -> None:
    """With Spark's own dynamic allocation, Rheostat does not scale."""
    size = "$(RHEOSTAT_EXECUTORS)"
    own = {"enabled": "true", "minExecutors": size, "maxExecutors": size}
    own |= {"initialExecutors": size, "shuffleTracking.enabled": "true"}
    own |= {"schedulerBacklogTimeout": "1s", "executorIdleTimeout": "60s"}
    submit = " ".join(f"--conf spark.dynamicAllocation.{key}={own[key]}" for key in own)
    pod = place_.pod("own", submit=submit)
    template = {"metadata": {"labels": {"app": "own"}}, "spec": pod["spec"]}
    create(
        place_.plane,
        resource("own", replicas=1, driver={"template": template, "controlPort": PORT}),
    )
    first = Driver(place_, "own")
    until(lambda: first.at_work() == 1, "the query runs on 1 executor")
    until(lambda: place_.ready("own") == "CannotScale", "it is known that it cannot be scaled")
    seconds_by_event: dict[str, float] = {}
    place_.scale("own", 3)
    begun = time.monotonic()

    def again() -> bool:
        seconds_by_event.setdefault(place_.ready("own"), round(time.monotonic() - begun, 1))
        pod = running(place_, "own")
        return bool(pod) and pod["metadata"]["name"] == "own-driver-2"

    until(again, "it is started again")
    seconds_by_event["its successor"] = round(time.monotonic() - begun, 1)
    second = Driver(place_, "own")
    until(lambda: second.at_work() == 3, "the query runs on 3 executors")
    seconds_by_event["3 executors at work"] = round(time.monotonic() - begun, 1)
    say(f"seconds after the size was written, for the first time: {seconds_by_event}")
    assert "Draining" in seconds_by_event
    until(lambda: place_.every("driver") == ["own-driver-2"], "the first driver's pod is deleted")
    end = place_.get(resource("own"))["status"]["lastEnd"]
    assert end.startswith("own-driver-1 for 3 executors: ")
    say(end)
    before = len(rows(place_.folder / "own"))
    until(lambda: len(rows(place_.folder / "own")) > before, "batches go on")
    delete(place_.plane, resource("own"))
    until(lambda: not place_.pods("driver") and not place_.pods("executor"), "its driver goes too")
    values = rows(place_.folder / "own")
    assert values == list(range(len(values)))
