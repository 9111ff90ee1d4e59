"""Why an executor was removed, from Spark's reason (``removeReason`` of its REST interface):
distinguishes a scale-in from actions of the cluster, of a person, and from failures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

OURS = "rheostat scales in"
"""The reason that Rheostat passes to Spark when it removes an executor."""

DELETED = "deleted"
_DECOMMISSIONED = "decommissioned"
_VAGUE = (DELETED, _DECOMMISSIONED, "asked", "silent")

_CODE = re.compile(r"exit(?:ed with)?(?: exit)? ?(?:code|status):?\s*(-?\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class End:
    """The cause of an executor's removal: its ``kind``, and a description in ``words``."""

    kind: str
    words: str

    @property
    def is_vague(self) -> bool:
        """Whether the events of the pod may reveal more: Spark removes any executor that stops
        responding, whatever the cause, and a decommissioned one may have been preempted.
        """
        return self.kind in _VAGUE


_PREEMPTED = End("preempted", "its pod was preempted for one of higher priority")
_LOST_NODE = End("node", "its node is lost or tainted, and its pod was deleted")
_EVENTS = {
    "Preempted": _PREEMPTED,
    "TaintManagerEviction": _LOST_NODE,
    "NodeNotReady": End("node", "its node is not ready"),
    "Evicted": End("evicted", "its pod was evicted"),
}
"""The ends that a pod's events reveal, by their reasons; the first counts."""

_TAKEN = {
    "PreemptionByScheduler": _PREEMPTED,
    "EvictionByEvictionAPI": End(
        "evicted", "its pod was evicted through the API, as when a node is drained"
    ),
    "DeletionByTaintManager": _LOST_NODE,
    "DeletionByPodGC": End("node", "its node is gone, and its pod was deleted"),
    "TerminationByKubelet": End("evicted", "its node evicted it"),
}

# The first match counts. Kubernetes, YARN and Standalone use different texts; on YARN Spark reports
# "a bad node" for every container that a signal has ended.
_KINDS: tuple[tuple[str, str, str], ...] = (
    (r"brief reason: Evicted", "evicted", "its node evicted it"),
    (r"OOMKilled|exit(?:ed with)? (?:code|status):? 137.*out of memory", "memory", "out of memory"),
    (r"memory limits|exceeding (?:physical|virtual|memory)", "memory", "beyond its memory limit"),
    (r"\bpreempted\b", "preempted", "preempted by another workload"),
    (r"released on a \*?lost\*? node|(?:slave|worker) lost", "node", "its node is lost"),
    (r"unhealthy node", "node", "its node is not healthy"),
    (r"deleted by a user or the framework", DELETED, "its pod was deleted"),
    (
        r"decommission",
        _DECOMMISSIONED,
        "its node or pod was removed, and it was decommissioned gracefully",
    ),
    (r"heartbeat timed out|no recent heartbeats", "silent", "its heartbeats stopped"),
    # YARN's "killed on request" is omitted: it follows any signal, also one from a person.
    (
        r"killed by (?:the )?driver|killed by the ApplicationMaster|explicit termination request",
        "asked",
        "it was ended",
    ),
    (r"not found in (?:the )?cluster|missing (?:in|from) the cluster", "node", "its pod is gone"),
)


def end_of(reason: str | None) -> End:
    """Return the cause of a removal from Spark's reason; ``lost`` if it reveals none."""
    if not reason:
        return End("lost", "Spark gives no reason")
    # This check comes first: Spark adds "decommission" to our reason as it does to any other.
    if OURS in reason:
        return End("scale-in", "Rheostat removed it")
    for pattern, kind, words in _KINDS:
        if re.search(pattern, reason, re.IGNORECASE | re.DOTALL):
            return End(kind, words)
    code = _CODE.search(reason)
    if code:
        return End("exited", f"its process ended with {code[1]}")
    # A reason may be a complete stack trace, and the journal keeps it: the first line is enough.
    return End("lost", reason.strip().splitlines()[0][:160])


def refined(end: End, events: list[Any], taken: str | None = None) -> End:
    """Return a vague cause refined by Kubernetes: preemption, eviction or node loss; a deleted pod
    without further information was deleted by a person or a program.

    ``events`` are those of the pod, ``taken`` is the reason of its deletion at the last observation
    (``pods.taken_of``); None if it was not observed.
    """
    if not end.is_vague:
        return end
    if taken in _TAKEN:
        return _TAKEN[taken]
    reasons = {str(event.get("reason")) for event in events}
    for name, revealed in _EVENTS.items():
        if name in reasons:
            return revealed
    if end.kind != DELETED and taken is None:
        return end
    return End(DELETED, "its pod was deleted, by a person or a program")
