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


def taken(executor: int, reason: str) -> Any:
    """A pod that is being deleted."""
    made = pod(executor, conditions=[{"type": "DisruptionTarget", "reason": reason}])
    made["metadata"]["deletionTimestamp"] = "1970-01-01T00:01:40Z"
    return made


class FakePods:
    """An API server: its objects, and its message if it refuses."""

    namespace = "jobs"

    def __init__(self, *items: Any, available: bool = True) -> None:
        self.items, self.available = list(items), available
        self.quota: str | None = None
        self.says: Refused | None = None
        self.happened: list[Any] = []
        self.reviewed: dict[str, Any] = {"incomplete": True}
        self.reviews = self.renewed = 0
        self.calls = 0

    def executors(self) -> dict[str, Any]:
        self.calls += 1
        if self.says:
            raise self.says
        return {"items": self.items}

    def events(self, pod: str) -> list[Any]:
        return self.happened

    def refusal(self, like: dict[str, Any]) -> str | None:
        return self.quota

    def renew_token(self) -> None:
        self.renewed += 1

    def rights(self) -> dict[str, Any]:
        self.reviews += 1
        if self.says:
            raise self.says
        return self.reviewed


def platform(pods: FakePods, reasons: Mapping[str, str | None] | None = None) -> Platform:
    return Platform(pods, lambda: reasons or {})


def test_a_pod_without_room_is_told_in_the_schedulers_words_and_stays_asked_for() -> None:
    unscheduled = {"type": "PodScheduled", "status": "False", "message": NO_ROOM}
    pods = FakePods(pod(1), pod(2, "Pending", None, conditions=[unscheduled]))
    seen = platform(pods)
    assert seen.poll(["1"], 2, 0.0) == f"1 pod pending (a-exec-2): {NO_ROOM}"
    assert seen.total(2) == 2


def test_an_image_that_cannot_be_had_is_told() -> None:
    waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    pods = FakePods(pod(1, "Pending", containerStatuses=[{"state": {"waiting": waiting}}]))
    assert "ImagePullBackOff: no such image" in platform(pods).poll([], 1, 0.0)


def test_what_a_quota_refuses_is_not_asked_for_every_second() -> None:
    pods = FakePods(pod(1), pod(2), pod(3))
    pods.quota = "exceeded quota: small, requested: pods=1, used: pods=3, limited: pods=3"
    seen, asked = platform(pods), []
    for second in range(300):
        if second % 5 == 0:
            said = seen.poll(["1", "2", "3"], 8, float(second))
            assert pods.quota in said
            assert "planning with 3" in said
        asked.append(seen.total(8))
    assert set(asked) == {3}
    assert pods.calls < 300 / LOOK_S / 2


def test_what_a_quota_refuses_after_a_new_wish_is_seen_within_two_seconds() -> None:
    pods = FakePods(pod(1))
    seen = platform(pods)
    seen.poll(["1"], 8, 0.0)
    assert seen.total(8) == 5  # one could be created, and Spark requests four
    pods.items, pods.quota = [pod(1), pod(2), pod(3)], "exceeded quota"
    for second in (1.0, 2.0):
        seen.poll(["1"], 8, second)
    assert seen.total(8) == 3


def test_more_are_asked_for_when_one_could_be_made_again() -> None:
    pods = FakePods(pod(1), pod(2), pod(3))
    pods.quota = "exceeded quota"
    seen = platform(pods)
    seen.poll(["1", "2", "3"], 8, 0.0)
    assert seen.total(8) == 3
    pods.quota = None
    seen.poll(["1", "2", "3"], 8, 60.0)
    assert seen.total(8) == 7


def test_where_refusals_would_end_the_application_one_more_is_asked_for_at_a_time() -> None:
    pods = FakePods(pod(1))
    seen = Platform(pods, dict, tolerated_failures=3)
    seen.poll(["1"], 3, 0.0)
    assert seen.total(3) == 2
    pods.items.append(pod(2, "Pending"))
    seen.poll(["1"], 3, 10.0)
    assert seen.total(3) == 3


def test_looks_become_rarer_and_end_when_all_are_there() -> None:
    pods = FakePods(pod(1))
    seen = platform(pods)
    for second in range(0, 600, 5):
        seen.poll(["1"], 2, float(second))
    assert 600 / MOST_S <= pods.calls <= 600 / MOST_S + 10
    before = pods.calls
    for second in range(600, 700, 5):
        assert seen.poll(["1"], 1, float(second)) == ""
    assert pods.calls == before


def test_who_has_gone_and_why_is_told_once() -> None:
    pods = FakePods(pod(1), pod(2))
    seen = platform(pods, {"2": DELETED})
    assert seen.poll(["1", "2"], 2, 0.0) == ""
    pods.happened = [{"reason": "Preempted"}]
    said = seen.poll(["1"], 2, 5.0)
    assert "executor 2 was lost: its pod was preempted" in said
    assert "executor 2" not in seen.poll(["1"], 2, 10.0)


def test_why_a_pod_is_taken_is_seen_while_its_executor_leaves_and_told_once_it_has_gone() -> None:
    pods, gone = FakePods(pod(1), pod(2)), {"2": "Executor decommission."}
    told: set[str] = set()
    seen = Platform(pods, lambda: gone, leaving=lambda _: told)
    seen.poll(["1", "2"], 2, 0.0)
    told.add("2")
    pods.items = [pod(1), taken(2, "EvictionByEvictionAPI")]
    calls = pods.calls
    for second in (1.0, 2.0, 3.0):
        assert seen.poll(["1", "2"], 2, second) == ""
    assert pods.calls == calls + 1
    pods.items = [pod(1)]
    told.clear()
    said = seen.poll(["1"], 2, 4.0)
    assert said.startswith("executor 2 was lost: its pod was evicted through the API")


def test_a_scale_in_is_no_loss() -> None:
    reasons = {"2": "Executor decommission: rheostat scales in"}
    seen = platform(FakePods(available=False), reasons)
    seen.poll(["1", "2"], 2, 0.0)
    assert seen.poll(["1"], 1, 5.0) == ""


def test_a_missing_right_is_named_with_the_rule_to_add() -> None:
    pods = FakePods()
    pods.says = Refused(403, "pods is forbidden")
    said = platform(pods).poll([], 1, 0.0)
    assert said == (
        'pods in namespace jobs may not be listed; add to the driver\'s role: apiGroups: [""],'
        ' resources: ["pods"], verbs: ["get", "list"]'
    )


def test_an_expired_token_is_waited_out() -> None:
    pods = FakePods(pod(1), pod(2))
    pods.says = Refused(401, "Unauthorized")
    seen = platform(pods)
    assert "waiting for a new one" in seen.poll(["1"], 2, 0.0)
    pods.says = None
    assert "token" not in seen.poll(["1"], 2, 100.0)


def test_a_driver_that_cannot_be_reached_is_told_with_its_address_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    running = {"state": {"running": {"startedAt": "1970-01-01T00:00:10Z"}}}
    looks = {"name": "SPARK_DRIVER_URL", "value": "spark://CoarseGrainedScheduler@10.0.0.9:7078"}
    made = pod(1, containerStatuses=[running])
    made["spec"]["containers"] = [{"env": [{"name": "OTHER"}, looks]}]
    pods = FakePods(made)
    seen = Platform(pods, dict)
    said = [seen.poll([], 1, now) for now in (100.0, 200.0)][-1]
    assert said == (
        "a-exec-1 run but have not registered for a minute: can they reach the driver at"
        " 10.0.0.9:7078? See spark.driver.host (from Spark 4.3 on spark.driver.bindAddress),"
        " spark.driver.port and the pods' logs"
    )
    assert [each.getMessage() for each in caplog.records] == [f"rheostat: {said}"]


def test_pods_that_end_one_after_the_other_without_registering_are_told() -> None:
    pods = FakePods(pod(1, "Failed"), pod(2, "Failed"))
    said = platform(pods).poll([], 1, 0.0)
    assert said.startswith("2 pods have ended before their executors registered, the last a-exec-2")
    assert "See spark.driver.host" in said


def stuck(executor: int, node: str = "n2") -> Any:
    """A pod that should have ended at 100 s, on a node that does not answer."""
    made = pod(executor, node=node)
    made["metadata"]["deletionTimestamp"] = "1970-01-01T00:01:40Z"
    return made


def test_pods_of_a_lost_node_that_spark_still_counts_are_asked_for_beside() -> None:
    pods = FakePods(pod(1), stuck(2), stuck(3))
    seen = platform(pods)
    assert seen.poll(["1"], 3, 120.0) == ""  # a working kubelet may still end them
    assert seen.total(3) == 3
    said = seen.poll(["1"], 3, 140.0)
    assert said.startswith("2 of the pods on n2 (a-exec-2, ...) should have ended")
    assert seen.total(3) == 5


def test_no_more_are_asked_for_once_the_lost_node_is_forgotten() -> None:
    pods = FakePods(pod(1), stuck(2))
    seen = platform(pods)
    seen.poll(["1"], 2, 140.0)
    assert seen.total(2) == 3
    pods.items.append(pod(3))
    assert seen.poll(["1", "3"], 2, 150.0) == ""
    assert seen.total(2) == 3
    pods.items = [pod(1), pod(3)]
    seen.poll(["1", "3"], 2, 150.0 + MOST_S)
    assert seen.total(2) == 2


def test_a_pod_that_ends_slowly_and_works_is_not_stuck() -> None:
    pods = FakePods(pod(1), stuck(2))
    seen = platform(pods)
    seen.poll(["1", "2"], 3, 140.0)
    assert seen.total(3) == 3


def test_executors_that_came_and_went_between_two_looks_at_the_pods_have_registered() -> None:
    pods = FakePods(pod(1), pod(2), pod(3))
    seen = platform(pods)
    seen.poll(["1"], 3, 0.0)
    seen.poll(["1", "2", "3"], 3, 1.0)
    pods.items = [pod(1)]
    seen.poll(["1"], 1, 10.0)
    assert "registered" not in seen.poll(["1"], 2, 20.0)


def test_an_executor_that_is_not_heard_of_any_more_has_not_failed_to_register() -> None:
    running = {"state": {"running": {"startedAt": "1970-01-01T00:00:10Z"}}}
    pods = FakePods(pod(1), pod(2, containerStatuses=[running]))
    seen = platform(pods)
    seen.poll(["1", "2"], 2, 20.0)
    assert "registered" not in seen.poll(["1"], 2, 200.0)


def test_who_was_on_a_lost_node_is_told_though_spark_says_only_that_it_has_ended_it() -> None:
    pods = FakePods(pod(1), pod(2))
    seen = platform(pods, {"2": "Executor killed by driver."})
    seen.poll(["1", "2"], 2, 0.0)
    pods.happened = [{"reason": "NodeNotReady"}, {"reason": "TaintManagerEviction"}]
    assert "executor 2 was lost: its node is lost" in seen.poll(["1"], 2, 5.0)


def test_nodes_are_those_of_the_pods_or_else_the_hosts() -> None:
    pods = FakePods(pod(1), pod(2, node="n2"))
    seen = platform(pods)
    seen.poll(["1", "2"], 2, 0.0)
    assert seen.nodes({"1": "127.1.0.1", "2": "127.1.0.2"}) == {"1": "n1", "2": "n2"}
    assert platform(FakePods(available=False)).nodes({"1": "host"}) == {"1": "host"}


def test_rights_that_the_driver_lacks_are_said_once_at_the_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pods = FakePods(pod(1))
    pods.reviewed = {
        "resourceRules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["create", "get", "watch"]},
            {"apiGroups": [""], "resources": ["events"], "verbs": ["*"]},
        ]
    }
    seen = platform(pods)
    for second in range(3):
        seen.poll(["1"], 1, float(second))
    assert pods.reviews == 1
    assert [each.getMessage() for each in caplog.records] == [
        "rheostat: pods in namespace jobs: the driver may not list, delete (the reason for"
        " missing executors is unknown; what Spark ends stays there); add to its role:"
        ' apiGroups: [""], resources: ["pods"], verbs: ["list", "delete"]'
    ]


def test_rights_that_cannot_be_asked_for_are_no_fault() -> None:
    pods = FakePods(pod(1))
    pods.says = Refused(401, "no")
    assert "401" in platform(pods).poll([], 1, 0.0)


def test_while_a_token_is_not_taken_no_executor_is_asked_for_and_its_file_is_read_again() -> None:
    pods = FakePods(pod(1))
    seen = platform(pods)
    seen.poll(["1"], 1, 0.0)
    pods.says = Refused(401, "Unauthorized")
    assert "401" in seen.poll(["1"], 8, 10.0)
    assert (seen.total(8), pods.renewed) == (1, 1)
    pods.says = None
    seen.poll(["1"], 8, 10.0 + MOST_S)
    assert seen.total(8) > 1
