"""Why an executor has gone, from the reason that Spark itself gives (``removeReason`` of its REST
interface): a scale-in is told apart from what the cluster, a person or a fault has done.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

OURS = "rheostat scales in"
"""The reason that Rheostat itself gives where it lets an executor go."""

DELETED = "deleted"
_DECOMMISSIONED = "decommissioned"
_VAGUE = (DELETED, _DECOMMISSIONED, "asked", "silent")


@dataclass(frozen=True, slots=True)
class End:
    """What has ended an executor: its ``kind``, and in words what is known of it."""

    kind: str
    words: str

    @property
    def is_vague(self) -> bool:
        """Whether the events of its pod may say more: Spark ends an executor that it does not hear
        of, whatever has happened to it, and one that leaves in order may have been preempted.
        """
        return self.kind in _VAGUE


# The first that fits counts. Kubernetes, YARN and Standalone each have words of their own; on YARN
# Spark says "a bad node" of any container that a signal has ended.
_KINDS: tuple[tuple[str, str, str], ...] = (
    (r"brief reason: Evicted", "evicted", "its node evicted it"),
    (r"OOMKilled|exit(?:ed with)? (?:code|status):? 137.*out of memory", "memory", "out of memory"),
    (r"memory limits|exceeding (?:physical|virtual|memory)", "memory", "beyond its memory limit"),
    (r"\bpreempted\b", "preempted", "preempted by another workload"),
    (
        r"released on a \*?lost\*? node|(?:slave|worker) lost",
        "node",
        "its node is lost",
    ),
    (r"unhealthy node", "node", "its node is not healthy"),
    (r"deleted by a user or the framework", DELETED, "its pod was deleted"),
    (
        r"decommission",
        _DECOMMISSIONED,
        "its node or pod was removed, and it was decommissioned gracefully",
    ),
    (r"heartbeat timed out|no recent heartbeats", "silent", "nothing was heard of it any more"),
    # YARN's "killed on request" is no such word: it says so after any signal, a person's too.
    (
        r"killed by (?:the )?driver|killed by the ApplicationMaster|explicit termination request",
        "asked",
        "it was ended",
    ),
    (r"not found in (?:the )?cluster|missing (?:in|from) the cluster", "node", "its pod is gone"),
)

_EVENTS: tuple[tuple[str, str, str], ...] = (
    ("Preempted", "preempted", "its pod was preempted for one of higher priority"),
    ("TaintManagerEviction", "node", "its node is lost or tainted, and its pod was deleted"),
    ("NodeNotReady", "node", "its node is not ready"),
    ("Evicted", "evicted", "its pod was evicted"),
)

_TAKEN: dict[str, tuple[str, str]] = {
    "PreemptionByScheduler": ("preempted", "its pod was preempted for one of higher priority"),
    "EvictionByEvictionAPI": (
        "evicted",
        "its pod was evicted through the API, as when a node is drained",
    ),
    "DeletionByTaintManager": ("node", "its node is lost or tainted, and its pod was deleted"),
    "DeletionByPodGC": ("node", "its node is gone, and its pod was deleted"),
    "TerminationByKubelet": ("evicted", "its node evicted it"),
}

_CODE = re.compile(r"exit(?:ed with)?(?: exit)? ?(?:code|status):?\s*(-?\d+)", re.IGNORECASE)


def end_of(reason: str | None) -> End:
    """Return what has ended an executor, from Spark's reason; ``lost`` where that says nothing
    more.
    """
    if not reason:
        return End("lost", "Spark gives no reason")
    # First of all: beside our words Spark speaks of decommissioning, as it does when others ask.
    if OURS in reason:
        return End("scale-in", "it was let go by Rheostat")
    for pattern, kind, words in _KINDS:
        if re.search(pattern, reason, re.IGNORECASE | re.DOTALL):
            return End(kind, words)
    code = _CODE.search(reason)
    if code:
        return End("exited", f"its process ended with {code[1]}")
    # A reason may be a whole stack trace: its first line says most, and the journal keeps it for
    # long.
    return End("lost", reason.strip().splitlines()[0][:160])


def refined(end: End, events: list[Any], taken: str | None = None) -> End:
    """Return a vague end as Kubernetes tells it: by preemption, by an eviction, with its node; of a
    pod that was deleted, by a person or a program where nothing says more.

    ``events`` are those of its pod, ``taken`` why the pod was being deleted when it was seen last
    (``pods.taken_of``); None where nobody has seen that.
    """
    if not end.is_vague:
        return end
    if taken in _TAKEN:
        return End(*_TAKEN[taken])
    reasons = {str(event.get("reason")) for event in events}
    for name, kind, words in _EVENTS:
        if name in reasons:
            return End(kind, words)
    if end.kind != DELETED and taken is None:
        return end
    return End(DELETED, "its pod was deleted, by a person or a program")
