from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rheostat.clusters.pods import Refused
from rheostat.spark.resizing.platform import LOOK_S, MOST_S, Platform

DELETED = "The executor with id 2 was deleted by a user or the framework."
NO_ROOM = "0/2 nodes are available: 2 Insufficient cpu."


def pod(executor: int, phase: str = "Running", node: str | None = "n1", **status: Any) -> Any:
    return {
        "metadata": {"name": f"a-exec-{executor}", "labels": {"spark-exec-id": str(executor)}},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, **status},
    }


def deleted_pod(executor: int, reason: str) -> Any:
    """A pod that is being deleted."""
    item = pod(executor, conditions=[{"type": "DisruptionTarget", "reason": reason}])
    item["metadata"]["deletionTimestamp"] = "1970-01-01T00:01:40Z"
    return item


class FakePods:
    """An API server: its objects, and its message if it refuses."""

    namespace = "jobs"

    def __init__(self, *items: Any, available: bool = True) -> None:
        self.items, self.available = list(items), available
        self.quota: str | None = None
        self.refused: Refused | None = None
        self.pod_events: list[Any] = []
        self.reviewed: dict[str, Any] = {"incomplete": True}
        self.reviews = self.renewed = 0
        self.calls = 0

    def executors(self) -> dict[str, Any]:
        self.calls += 1
        if self.refused:
            raise self.refused
        return {"items": self.items}

    def events(self, pod: str) -> list[Any]:
        return self.pod_events

    def refusal(self, like: dict[str, Any]) -> str | None:
        return self.quota

    def renew_token(self) -> None:
        self.renewed += 1

    def rights(self) -> dict[str, Any]:
        self.reviews += 1
        if self.refused:
            raise self.refused
        return self.reviewed


def platform(
    pods: Any, reasons: Mapping[str, str | None] | None = None, **options: Any
) -> Platform:
    return Platform(pods, lambda: reasons or {}, **options)


def test_an_unschedulable_pod_is_reported_and_stays_requested() -> None:
    unscheduled = {"type": "PodScheduled", "status": "False", "message": NO_ROOM}
    pods = FakePods(pod(1), pod(2, "Pending", None, conditions=[unscheduled]))
    cluster_platform = platform(pods)
    assert cluster_platform.poll(["1"], 2, 0.0) == f"1 pod pending (a-exec-2): {NO_ROOM}"
    assert cluster_platform.total(2) == 2


def test_an_image_pull_failure_is_reported() -> None:
    waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    pods = FakePods(pod(1, "Pending", containerStatuses=[{"state": {"waiting": waiting}}]))
    assert "ImagePullBackOff: no such image" in platform(pods).poll([], 1, 0.0)


def test_executors_above_the_quota_are_not_requested_again_and_again() -> None:
    pods = FakePods(pod(1), pod(2), pod(3))
    pods.quota = "exceeded quota: small, requested: pods=1, used: pods=3, limited: pods=3"
    cluster_platform, totals = platform(pods), []
    for second in range(300):
        if second % 5 == 0:
            message = cluster_platform.poll(["1", "2", "3"], 8, float(second))
            assert pods.quota in message
            assert "planning with 3" in message
        totals.append(cluster_platform.total(8))
    assert set(totals) == {3}
    assert pods.calls < 300 / LOOK_S / 2


def test_a_quota_refusal_of_a_new_target_is_detected_within_two_seconds() -> None:
    pods = FakePods(pod(1))
    cluster_platform = platform(pods)
    cluster_platform.poll(["1"], 8, 0.0)
    assert cluster_platform.total(8) == 5  # one could be created, and Spark requests four
    pods.items, pods.quota = [pod(1), pod(2), pod(3)], "exceeded quota"
    for second in (1.0, 2.0):
        cluster_platform.poll(["1"], 8, second)
    assert cluster_platform.total(8) == 3


def test_more_executors_are_requested_once_the_quota_allows_one() -> None:
    pods = FakePods(pod(1), pod(2), pod(3))
    pods.quota = "exceeded quota"
    cluster_platform = platform(pods)
    cluster_platform.poll(["1", "2", "3"], 8, 0.0)
    assert cluster_platform.total(8) == 3
    pods.quota = None
    cluster_platform.poll(["1", "2", "3"], 8, 60.0)
    assert cluster_platform.total(8) == 7


def test_one_executor_at_a_time_is_requested_where_failures_end_the_application() -> None:
    pods = FakePods(pod(1))
    cluster_platform = platform(pods, tolerated_failures=3)
    cluster_platform.poll(["1"], 3, 0.0)
    assert cluster_platform.total(3) == 2
    pods.items.append(pod(2, "Pending"))
    cluster_platform.poll(["1"], 3, 10.0)
    assert cluster_platform.total(3) == 3


def test_polls_become_rarer_and_stop_once_all_pods_run() -> None:
    pods = FakePods(pod(1))
    cluster_platform = platform(pods)
    for second in range(0, 600, 5):
        cluster_platform.poll(["1"], 2, float(second))
    assert 600 / MOST_S <= pods.calls <= 600 / MOST_S + 10
    before = pods.calls
    for second in range(600, 700, 5):
        assert cluster_platform.poll(["1"], 1, float(second)) == ""
    assert pods.calls == before


def test_a_lost_executor_is_reported_once_with_the_reason() -> None:
    pods = FakePods(pod(1), pod(2))
    cluster_platform = platform(pods, {"2": DELETED})
    assert cluster_platform.poll(["1", "2"], 2, 0.0) == ""
    pods.pod_events = [{"reason": "Preempted"}]
    message = cluster_platform.poll(["1"], 2, 5.0)
    assert "executor 2 was lost: its pod was preempted" in message
    assert "executor 2" not in cluster_platform.poll(["1"], 2, 10.0)


def test_the_reason_of_an_eviction_is_reported_once_the_executor_is_gone() -> None:
    pods, gone = FakePods(pod(1), pod(2)), {"2": "Executor decommission."}
    leaving: set[str] = set()
    cluster_platform = platform(pods, gone, leaving=lambda _: leaving)
    cluster_platform.poll(["1", "2"], 2, 0.0)
    leaving.add("2")
    pods.items = [pod(1), deleted_pod(2, "EvictionByEvictionAPI")]
    calls = pods.calls
    for second in (1.0, 2.0, 3.0):
        assert cluster_platform.poll(["1", "2"], 2, second) == ""
    assert pods.calls == calls + 1
    pods.items = [pod(1)]
    leaving.clear()
    message = cluster_platform.poll(["1"], 2, 4.0)
    assert message.startswith("executor 2 was lost: its pod was evicted through the API")


def test_a_scale_in_is_not_a_loss() -> None:
    reasons = {"2": "Executor decommission: rheostat scales in"}
    cluster_platform = platform(FakePods(available=False), reasons)
    cluster_platform.poll(["1", "2"], 2, 0.0)
    assert cluster_platform.poll(["1"], 1, 5.0) == ""


def test_a_missing_permission_is_reported_as_the_rbac_rule_to_add() -> None:
    pods = FakePods()
    pods.refused = Refused(403, "pods is forbidden")
    message = platform(pods).poll([], 1, 0.0)
    assert message == (
        'pods in namespace jobs may not be listed; add to the driver\'s role: apiGroups: [""],'
        ' resources: ["pods"], verbs: ["get", "list"]'
    )


def test_an_expired_token_is_tolerated_until_it_is_renewed() -> None:
    pods = FakePods(pod(1), pod(2))
    pods.refused = Refused(401, "Unauthorized")
    cluster_platform = platform(pods)
    assert "waiting for a new one" in cluster_platform.poll(["1"], 2, 0.0)
    pods.refused = None
    assert "token" not in cluster_platform.poll(["1"], 2, 100.0)


def test_an_unreachable_driver_is_reported_once_with_its_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    running = {"state": {"running": {"startedAt": "1970-01-01T00:00:10Z"}}}
    driver_url = {
        "name": "SPARK_DRIVER_URL",
        "value": "spark://CoarseGrainedScheduler@10.0.0.9:7078",
    }
    item = pod(1, containerStatuses=[running])
    item["spec"]["containers"] = [{"env": [{"name": "OTHER"}, driver_url]}]
    pods = FakePods(item)
    cluster_platform = platform(pods)
    message = [cluster_platform.poll([], 1, now) for now in (100.0, 200.0)][-1]
    assert message == (
        "a-exec-1 run but have not registered for a minute: can they reach the driver at"
        " 10.0.0.9:7078? See spark.driver.host (from Spark 4.3 on spark.driver.bindAddress),"
        " spark.driver.port and the pods' logs"
    )
    assert [record.getMessage() for record in caplog.records] == [f"rheostat: {message}"]


def test_pods_that_end_without_registering_are_reported() -> None:
    pods = FakePods(pod(1, "Failed"), pod(2, "Failed"))
    message = platform(pods).poll([], 1, 0.0)
    assert message.startswith(
        "2 pods have ended before their executors registered, the last a-exec-2"
    )
    assert "See spark.driver.host" in message


def stuck_pod(executor: int, node: str = "n2") -> Any:
    """A pod that should have ended at 100 s, on a node that does not answer."""
    item = pod(executor, node=node)
    item["metadata"]["deletionTimestamp"] = "1970-01-01T00:01:40Z"
    return item


def test_pods_on_a_lost_node_are_requested_in_addition() -> None:
    pods = FakePods(pod(1), stuck_pod(2), stuck_pod(3))
    cluster_platform = platform(pods)
    assert cluster_platform.poll(["1"], 3, 120.0) == ""  # a working kubelet may still end them
    assert cluster_platform.total(3) == 3
    message = cluster_platform.poll(["1"], 3, 140.0)
    assert message.startswith("2 of the pods on n2 (a-exec-2, ...) should have ended")
    assert cluster_platform.total(3) == 5


def test_no_extra_pods_are_requested_once_the_lost_node_is_removed() -> None:
    pods = FakePods(pod(1), stuck_pod(2))
    cluster_platform = platform(pods)
    cluster_platform.poll(["1"], 2, 140.0)
    assert cluster_platform.total(2) == 3
    pods.items.append(pod(3))
    assert cluster_platform.poll(["1", "3"], 2, 150.0) == ""
    assert cluster_platform.total(2) == 3
    pods.items = [pod(1), pod(3)]
    cluster_platform.poll(["1", "3"], 2, 150.0 + MOST_S)
    assert cluster_platform.total(2) == 2


def test_a_slowly_ending_pod_with_a_live_executor_is_not_stuck() -> None:
    pods = FakePods(pod(1), stuck_pod(2))
    cluster_platform = platform(pods)
    cluster_platform.poll(["1", "2"], 3, 140.0)
    assert cluster_platform.total(3) == 3


def test_executors_that_left_between_two_polls_count_as_registered() -> None:
    pods = FakePods(pod(1), pod(2), pod(3))
    cluster_platform = platform(pods)
    cluster_platform.poll(["1"], 3, 0.0)
    cluster_platform.poll(["1", "2", "3"], 3, 1.0)
    pods.items = [pod(1)]
    cluster_platform.poll(["1"], 1, 10.0)
    assert "registered" not in cluster_platform.poll(["1"], 2, 20.0)


def test_a_lost_executor_is_not_reported_as_unregistered() -> None:
    running = {"state": {"running": {"startedAt": "1970-01-01T00:00:10Z"}}}
    pods = FakePods(pod(1), pod(2, containerStatuses=[running]))
    cluster_platform = platform(pods)
    cluster_platform.poll(["1", "2"], 2, 20.0)
    assert "registered" not in cluster_platform.poll(["1"], 2, 200.0)


def test_an_executor_on_a_lost_node_is_reported_as_lost_with_its_node() -> None:
    pods = FakePods(pod(1), pod(2))
    cluster_platform = platform(pods, {"2": "Executor killed by driver."})
    cluster_platform.poll(["1", "2"], 2, 0.0)
    pods.pod_events = [{"reason": "NodeNotReady"}, {"reason": "TaintManagerEviction"}]
    assert "executor 2 was lost: its node is lost" in cluster_platform.poll(["1"], 2, 5.0)


def test_nodes_come_from_the_pods_or_the_hosts() -> None:
    pods = FakePods(pod(1), pod(2, node="n2"))
    cluster_platform = platform(pods)
    cluster_platform.poll(["1", "2"], 2, 0.0)
    assert cluster_platform.nodes({"1": "127.1.0.1", "2": "127.1.0.2"}) == {"1": "n1", "2": "n2"}
    assert platform(FakePods(available=False)).nodes({"1": "host"}) == {"1": "host"}


def test_missing_permissions_are_logged_once_at_the_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pods = FakePods(pod(1))
    pods.reviewed = {
        "resourceRules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "get", "watch"]},
            {"apiGroups": [""], "resources": ["events"], "verbs": ["*"]},
        ]
    }
    cluster_platform = platform(pods)
    for second in range(3):
        cluster_platform.poll(["1"], 1, float(second))
    assert pods.reviews == 1
    assert [record.getMessage() for record in caplog.records] == [
        "rheostat: pods in namespace jobs: the driver may not list, delete (the reason for"
        " missing executors is unknown; pods that Spark ends are not deleted); add to its role:"
        ' apiGroups: [""], resources: ["pods"], verbs: ["list", "delete"]'
    ]


def test_an_unavailable_permission_review_is_not_an_error() -> None:
    pods = FakePods(pod(1))
    pods.refused = Refused(401, "no")
    assert "401" in platform(pods).poll([], 1, 0.0)


def test_a_rejected_token_pauses_requests_and_is_read_again() -> None:
    pods = FakePods(pod(1))
    cluster_platform = platform(pods)
    cluster_platform.poll(["1"], 1, 0.0)
    pods.refused = Refused(401, "Unauthorized")
    assert "401" in cluster_platform.poll(["1"], 8, 10.0)
    assert (cluster_platform.total(8), pods.renewed) == (1, 1)
    pods.refused = None
    cluster_platform.poll(["1"], 8, 10.0 + MOST_S)
    assert cluster_platform.total(8) > 1
