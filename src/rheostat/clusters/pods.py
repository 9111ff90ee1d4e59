"""The pods of executors as Kubernetes reports them: their nodes, and why one does not run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rheostat.plural import counted

NEEDED: Mapping[str, Mapping[str, str]] = {
    "pods": {
        "create": "no executor can be added",
        "get": "Spark does not see how its executors end",
        "list": "the reason for missing executors is unknown",
        "watch": "Spark does not see how its executors end",
        "delete": "pods that Spark ends are not deleted",
    },
    "events": {"list": "preempted, evicted and deleted executors cannot be distinguished"},
}
"""The required verbs by resource, and the consequence of lacking each."""

EXECUTOR_LABEL = "spark-exec-id"

STUCK_S = 30.0
"""Seconds within which a working kubelet has ended and removed a pod."""

_TAKEN = "DisruptionTarget"
_DRIVER_URL = "SPARK_DRIVER_URL"
_STARTED = ("ContainerCreating", "PodInitializing")

FEW = 2
"""Minimum number of ended pods to report: a single one may have been deleted on purpose."""


def lacking(status: Mapping[str, Any], namespace: str) -> tuple[str, ...]:
    """Return a line for each resource that lacks a verb, with the rule to add; an empty tuple if
    the review is incomplete.

    ``status`` is the status of a ``SelfSubjectRulesReview``.
    """
    if status.get("incomplete"):
        return ()
    rules = status.get("resourceRules") or []
    texts = []
    for resource, verbs in NEEDED.items():
        missing = [verb for verb in verbs if not _allowed(rules, resource, verb)]
        if missing:
            purposes = "; ".join(dict.fromkeys(verbs[verb] for verb in missing))
            named = ", ".join(f'"{verb}"' for verb in missing)
            texts.append(
                f"{resource} in namespace {namespace}: the driver may not {', '.join(missing)}"
                f' ({purposes}); add to its role: apiGroups: [""], resources: ["{resource}"],'
                f" verbs: [{named}]"
            )
    return tuple(texts)


def _allowed(rules: Iterable[Mapping[str, Any]], resource: str, verb: str) -> bool:
    return any(
        _has(rule, "apiGroups", "")
        and _has(rule, "resources", resource)
        and _has(rule, "verbs", verb)
        # A rule for named objects does not cover objects that are created later.
        and not rule.get("resourceNames")
        for rule in rules
    )


def _has(rule: Mapping[str, Any], part: str, wanted: str) -> bool:
    return not {wanted, "*"}.isdisjoint(rule.get(part) or ())


class Refused(Exception):
    """The API server refused a request: its HTTP ``code`` (0 if it did not answer) and message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of an executor; ``node`` is None before scheduling, ``waits`` Kubernetes' words."""

    executor: str
    name: str
    node: str | None
    phase: str
    waits: str | None = None
    since_s: float | None = None
    """The start of its container, in Unix seconds."""

    @property
    def lives(self) -> bool:
        """Whether it runs or is about to run."""
        return self.phase in ("Pending", "Running")


def pods_of(pod_list: Mapping[str, Any]) -> tuple[Pod, ...]:
    """Return the pods of a Kubernetes pod list, sorted by executor, without those being deleted."""
    pods = [
        Pod(
            executor=executor,
            name=str(metadata["name"]),
            node=spec.get("nodeName"),
            phase=str(status.get("phase", "Pending")),
            waits=_waits(status),
            since_s=_since_s(status),
        )
        for executor, metadata, spec, status in _of_executors(pod_list)
        # A pod that is being deleted runs until its grace period ends, but is capacity no longer.
        if not metadata.get("deletionTimestamp")
    ]
    return tuple(sorted(pods, key=lambda pod: (len(pod.executor), pod.executor)))


def _of_executors(pod_list: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the executor, the metadata, the spec and the status of each executor's pod."""
    for item in pod_list.get("items") or []:
        executor = (item["metadata"].get("labels") or {}).get(EXECUTOR_LABEL)
        if executor is not None:
            yield str(executor), item["metadata"], item.get("spec") or {}, item.get("status") or {}


def taken_of(pod_list: Mapping[str, Any]) -> dict[str, str]:
    """Return by executor why each pod is being deleted: the reason in its ``DisruptionTarget``
    condition (such as ``EvictionByEvictionAPI``), or "" if a person or a program deleted it.
    """
    taken = {}
    for executor, metadata, _, status in _of_executors(pod_list):
        if metadata.get("deletionTimestamp"):
            reasons = (
                condition.get("reason")
                for condition in status.get("conditions") or []
                if condition.get("type") == _TAKEN
            )
            taken[executor] = str(next(reasons, "") or "")
    return taken


def stuck_pods_of(
    pod_list: Mapping[str, Any], registered: Collection[str], now: float
) -> dict[str, str]:
    """Return the nodes, by pod, of pods that are reported as running though they were deleted and
    should have ended ``STUCK_S`` seconds ago: the kubelet of their node does not answer.

    Spark counts them as executors and requests no replacements. Kubernetes keeps them until the
    node returns or its object is deleted.
    """
    stuck = {}
    for executor, metadata, spec, status in _of_executors(pod_list):
        # Kubernetes sets this to the end of the grace period.
        end_s = _seconds(metadata.get("deletionTimestamp"))
        runs = status.get("phase") == "Running"
        if runs and executor not in registered and end_s and now - end_s >= STUCK_S:
            stuck[str(metadata["name"])] = str(spec.get("nodeName"))
    return stuck


def stuck_text(stuck: Mapping[str, str]) -> str:
    """Return a message about these pods; empty if there are none."""
    if not stuck:
        return ""
    return (
        f"{len(stuck)} of the pods on {', '.join(sorted(set(stuck.values())))}"
        f" ({next(iter(stuck))}, ...) should have ended: the node does not answer. Spark counts"
        " them, so as many more are requested; delete a node that will not return:"
        " kubectl delete node NAME"
    )


def driver_of(pod_list: Mapping[str, Any]) -> str:
    """Return the driver's address (``host:port``) of the newest pod; empty without one."""
    newest = max(
        pod_list.get("items") or [{}],
        key=lambda item: str((item.get("metadata") or {}).get("creationTimestamp")),
    )
    for container in (newest.get("spec") or {}).get("containers") or []:
        for variable in container.get("env") or []:
            if variable.get("name") == _DRIVER_URL:
                return str(variable.get("value")).rpartition("@")[2]
    return ""


def waiting_words(pods: Iterable[Pod]) -> str:
    """Return a message that lists pending pods grouped by reason; empty if no pod is pending."""
    reasons: dict[str, list[str]] = {}
    for pod in pods:
        if pod.phase == "Pending":
            reasons.setdefault(pod.waits or "no reason given", []).append(pod.name)
    return "; ".join(
        f"{counted(len(names), 'pod')} pending ({names[0]}"
        f"{', ...' if len(names) > 1 else ''}): {reason}"
        for reason, names in reasons.items()
    )


def unreachable(pods: Iterable[Pod], registered: Collection[str], now: float) -> tuple[str, ...]:
    """Return the pods that have run for a minute without registering: no way to the driver."""
    return tuple(
        pod.name
        for pod in pods
        if pod.phase == "Running"
        and pod.executor not in registered
        and pod.since_s is not None
        and now - pod.since_s >= 60.0
    )


def _waits(status: Mapping[str, Any]) -> str | None:
    for condition in status.get("conditions") or []:
        # Check scheduling first: a pod without a node has no container status yet.
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return str(condition.get("message") or condition.get("reason") or "it is not scheduled")
    for container in status.get("containerStatuses") or []:
        waiting = (container.get("state") or {}).get("waiting")
        if waiting:
            reason = str(waiting.get("reason") or "waiting")
            if reason in _STARTED:
                return "its image is being pulled or its container created"
            return ": ".join(filter(None, (reason, waiting.get("message"))))
    return None


def _since_s(status: Mapping[str, Any]) -> float | None:
    for container in status.get("containerStatuses") or []:
        started = ((container.get("state") or {}).get("running") or {}).get("startedAt")
        if started:
            return _seconds(started)
    return None


def _seconds(timestamp: str | None) -> float | None:
    """Return a Kubernetes timestamp in Unix seconds."""
    if not timestamp:
        return None
    # Python 3.10 does not parse the suffix Z of UTC.
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


class Unregistered:
    """Counts executors whose pods ran and ended without registering since the last registration.

    Usually such pods cannot reach the driver, and Spark keeps creating new ones.
    """

    def __init__(self) -> None:
        self._registered: set[str] = set()
        self._running: dict[str, str] = {}
        self._ended: dict[str, str] = {}

    @property
    def ever_registered(self) -> Collection[str]:
        """The executors that have ever registered, including removed ones."""
        return self._registered

    def note(self, registered: Collection[str]) -> None:
        """Record the registered executors. Call this at each tick: an executor may register and be
        removed between two reads of the pods.
        """
        if not self._registered.issuperset(registered):
            self._registered.update(registered)
            self._ended = {}

    def record(self, pods: Iterable[Pod], registered: Collection[str]) -> None:
        """Record the pods and the registered executors of one moment."""
        self.note(registered)
        by_executor = {pod.executor: pod for pod in pods}
        for executor in list(self._running):
            if executor in self._registered:
                del self._running[executor]
            elif executor not in by_executor or not by_executor[executor].lives:
                self._ended[executor] = self._running.pop(executor)
        for pod in by_executor.values():
            if pod.phase == "Failed" and pod.executor not in self._registered:
                self._ended[pod.executor] = pod.name
            elif pod.phase == "Running" and pod.executor not in self._registered:
                self._running[pod.executor] = pod.name

    def words(self) -> str:
        """Return a message with their number and the last one; empty for fewer than ``FEW``."""
        if len(self._ended) < FEW:
            return ""
        return (
            f"{len(self._ended)} pods have ended before their executors registered, the last"
            f" {list(self._ended.values())[-1]}"
        )
