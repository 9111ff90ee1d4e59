from __future__ import annotations

import pytest

from rheostat.spark.sensing.executor_ends import DELETED, End, end_of, refined

REASONS = [
    (None, "lost"),
    ("Executor decommission: rheostat scales in", "scale-in"),
    ("Executor decommission.", "decommissioned"),
    (
        "The executor with id 4 exited with exit code -1(unexpected).\n\nThe API gave the following"
        " brief reason: Evicted\nThe API gave the following message: The node was low on memory",
        "evicted",
    ),
    ("The executor with id 4 was deleted by a user or the framework.", DELETED),
    ("The executor with id 4 exited with exit code 1(unexpected).", "exited"),
    ("Container container_1 on host: h was preempted.", "preempted"),
    (
        "Container from a bad node: container_1 on host: h. Exit status: -100. Diagnostics:"
        " Container released on a *lost* node.",
        "node",
    ),
    (
        "Container from a bad node: container_1 on host: h. Exit status: 143. Diagnostics:"
        " Killed by external signal",
        "exited",
    ),
    (
        "Container from a bad node: container_1 on host: h. Exit status: 137. Diagnostics: [2026]"
        "Container killed on request. Exit code is 137\nKilled by external signal",
        "exited",
    ),
    ("Container container_1 exited from explicit termination request.", "asked"),
    ("Executor killed by driver.", "asked"),
    ("Container killed by YARN for exceeding physical memory limits. 1.5 GB used.", "memory"),
    ("Container marked as failed: container_1 on host: h. Exit status: 137.", "exited"),
    ("Executor heartbeat timed out after 130000 ms", "silent"),
    ("Worker lost: 127.0.0.2:4000", "node"),
    ("Command exited with code 137", "exited"),
    ("Something new\nwith a second line", "lost"),
]


@pytest.mark.parametrize(("reason", "kind"), REASONS)
def test_the_kind_of_an_end_follows_from_sparks_reason(reason: str | None, kind: str) -> None:
    end = end_of(reason)
    assert end.kind == kind
    assert end.words
    assert "\n" not in end.words


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("Preempted", "preempted"),
        ("TaintManagerEviction", "node"),
        ("Killing", DELETED),
    ],
)
def test_events_of_a_deleted_pod_refine_the_reason(event: str, kind: str) -> None:
    deleted = end_of("The executor with id 4 was deleted by a user or the framework.")
    assert refined(deleted, [{"reason": event}]).kind == kind


def test_events_of_a_lost_node_override_sparks_reason() -> None:
    for reason in ("Executor killed by driver.", "Executor heartbeat timed out after 130000 ms"):
        vague = end_of(reason)
        assert refined(vague, [{"reason": "NodeNotReady"}]).kind == "node"
        assert refined(vague, [{"reason": "Scheduled"}]) == vague


def test_a_decommissioned_executor_may_have_been_preempted() -> None:
    end = end_of("Executor decommission.")
    assert refined(end, [{"reason": "Preempted"}]).kind == "preempted"
    assert refined(end, [{"reason": "Killing"}]) == end


@pytest.mark.parametrize(
    ("disruption", "kind"),
    [
        ("EvictionByEvictionAPI", "evicted"),
        ("PreemptionByScheduler", "preempted"),
        ("DeletionByTaintManager", "node"),
        ("DeletionByPodGC", "node"),
        ("TerminationByKubelet", "evicted"),
        ("", DELETED),
        (None, "decommissioned"),
    ],
)
def test_the_disruption_reason_of_a_pod_refines_the_end(disruption: str | None, kind: str) -> None:
    assert refined(end_of("Executor decommission."), [], disruption).kind == kind


def test_only_a_vague_end_is_refined() -> None:
    exited = End("exited", "its process ended with 1")
    assert refined(exited, [{"reason": "Preempted"}]) == exited
