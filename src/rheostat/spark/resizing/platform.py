"""Observes why executors do not start or were removed by others, and where each runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rheostat.clusters.pods import (
    Pod,
    Refused,
    Unregistered,
    driver_of,
    lacking,
    pods_of,
    stuck_pods_of,
    stuck_text,
    taken_of,
    unreachable,
    waiting_words,
)
from rheostat.protocols.orders import MANY_FAILURES, total_to_request
from rheostat.spark.internals.block_managers import oldest_first
from rheostat.spark.internals.kubernetes_pods import KubernetesPods
from rheostat.spark.sensing import executor_ends

_log = logging.getLogger("rheostat")
FRESH_S = 1.0
LOOK_S = 5.0
MOST_S = 30.0
"""Pauses in seconds between two reads of the pods while executors are missing: after a new request,
after a change, and at most; each is 1.5 times the previous one. The first is short because Spark
requests a refused pod again every second until its target falls."""

_UNREACHED = "the driver is not reached"
_UNKNOWN = 401
"""The API server's status for an expired token."""

_RULE = 'apiGroups: [""], resources: ["{0}"], verbs: ["get", "list"]'


@dataclass(eq=False)
class Platform:
    """Observes the executors once per tick, and queries the cluster manager only if something
    changed or is missing.

    ``tolerated_failures`` is how many executors may fail before the application ends. ``reasons``
    returns Spark's reason for the removal of each executor. ``leaving`` returns the executors that
    Spark is decommissioning.
    """

    pods: KubernetesPods
    reasons: Callable[[], Mapping[str, str | None]]
    tolerated_failures: int = MANY_FAILURES
    leaving: Callable[[Collection[str]], Collection[str]] = lambda _: ()

    def __post_init__(self) -> None:
        self._driver = ""
        self._left: frozenset[str] = frozenset()
        self._taken: dict[str, str] = {}
        self._known: frozenset[str] | None = None
        self._names: dict[str, str] = {}
        self._nodes: dict[str, str] = {}
        self._existing: int | None = None
        """The number of pods that run or wait; None before the first read."""
        self._refusal: str | None = None
        self._words = ""
        self._wanted = 0
        self._read_s, self._pause_s = float("-inf"), LOOK_S
        self._logged: set[str] = set()
        self._has_read_rights = False
        self._unregistered = Unregistered()
        self._stuck_pods: Mapping[str, str] = {}

    def nodes(self, hosts: Mapping[str, str]) -> Mapping[str, str]:
        """Return each executor's node: its host, or on Kubernetes the node of its pod."""
        return self._nodes if self.pods.available else hosts

    def total(self, wanted: int) -> int:
        """Return the number of executors to request if ``wanted`` are needed."""
        # Outside Kubernetes, or before the first read, all are requested at once, as Spark does.
        if not self.pods.available or self._existing is None:
            return wanted
        refused = self._refusal is not None
        request = total_to_request(
            wanted, self._existing, refused=refused, tolerated_failures=self.tolerated_failures
        )
        return request + len(self._stuck_pods)

    def poll(self, registered: Collection[str], wanted: int, now: float) -> str:
        """Return a description of current problems; empty if there are none."""
        self._check_rights()
        self._record_leaving(registered)
        lost = self._losses(frozenset(registered))
        self._unregistered.note(registered)
        lacking = wanted > len(registered)
        # A new request is observed at once: what was refused before may be possible now.
        if lacking and wanted != self._wanted:
            self._read_s, self._pause_s = float("-inf"), FRESH_S
        self._wanted = wanted
        is_new = not set(registered) <= self._nodes.keys()
        if self.pods.available and (lost or lacking or self._stuck_pods or is_new):
            self._read(registered, wanted, lacking, now)
        if not lacking:
            self._words, self._refusal = "", None
            self._pause_s = self._pause_s if self._stuck_pods else LOOK_S
        return "; ".join(filter(None, (*lost, self._words)))

    def _check_rights(self) -> None:
        """Warn once, at the start and thus in time, about the rights that the driver lacks."""
        if self._has_read_rights or not self.pods.available:
            return
        self._has_read_rights = True
        with suppress(Refused):  # a failing read of the pods is reported separately
            for line in lacking(self.pods.rights(), self.pods.namespace):
                _log.warning("rheostat: %s", line)

    def _record_leaving(self, registered: Collection[str]) -> None:
        """Record why other programs remove executors, as long as their pods exist."""
        if not self.pods.available:
            return
        before, self._left = self._left, frozenset(self.leaving(registered))
        if self._left <= before:
            return
        with suppress(Refused):  # a failing read of the pods is reported separately
            self._taken.update(taken_of(self.pods.executors()))

    def _losses(self, registered: frozenset[str]) -> list[str]:
        """Return why executors were lost that Rheostat did not remove, each once."""
        before, self._known = self._known, registered
        gone = oldest_first((before or frozenset()) - registered)
        if not gone:
            return []
        reasons = self.reasons()
        losses = []
        for executor in gone:
            end = executor_ends.end_of(reasons.get(executor))
            taken = self._taken.pop(executor, None)
            end = executor_ends.refined(end, self._events(executor, end), taken)
            # An executor that Rheostat removed is not a loss.
            if end.kind != "scale-in":
                losses.append(f"executor {executor} was lost: {end.words}")
        for line in losses:
            _log.warning("rheostat: %s", line)
        return losses

    def _events(self, executor: str, end: executor_ends.End) -> list[Any]:
        name = self._names.get(executor)
        # Most removals are explained by Spark's own reason.
        if not end.is_vague or name is None or not self.pods.available:
            return []
        try:
            return self.pods.events(name)
        except Refused as refused:
            self._refusal_text(refused, "events")
            return []

    def _read(self, registered: Collection[str], wanted: int, lacking: bool, now: float) -> None:
        if now - self._read_s < self._pause_s:
            return
        self._read_s = now
        try:
            pod_list = self.pods.executors()
        except Refused as refused:
            self._words, self._existing = self._refusal_text(refused, "pods"), None
            if refused.code == _UNKNOWN:
                # Spark would continue to request pods, count each refusal as a failed executor, and
                # end the application after a hundred of them, within a minute.
                self._existing, self._refusal = len(registered), self._words
                self.pods.renew_token()
            self._pause_s = min(MOST_S, self._pause_s * 1.5)
            return
        before, pods = self._existing, pods_of(pod_list)
        self._driver = driver_of(pod_list) or self._driver
        self._unregistered.record(pods, registered)
        self._stuck_pods = stuck_pods_of(pod_list, registered, now)
        self._nodes = {pod.executor: pod.node for pod in pods if pod.node}
        # Never cleared: the events of a pod are needed after the pod was removed.
        self._names.update({pod.executor: pod.name for pod in pods})
        self._existing = sum(pod.lives for pod in pods)
        self._refusal = self._why_none(pod_list, wanted) if lacking else None
        grows = before is not None and self._existing > before
        quiet = not lacking and not self._stuck_pods
        self._pause_s = LOOK_S if grows or quiet else min(MOST_S, self._pause_s * 1.5)
        self._words = self._lacking_words(pods, registered, now) if lacking else ""

    def _why_none(self, pod_list: Mapping[str, Any], wanted: int) -> str | None:
        """Return why missing pods are not created, tested with a copy of an existing pod."""
        items = pod_list.get("items") or []
        # Pods that exist but wait are not refused, and without a pod there is none to copy.
        if self._existing is None or self._existing >= wanted or not items:
            return None
        return self.pods.refusal(dict(items[0]))

    def _lacking_words(self, pods: tuple[Pod, ...], registered: Collection[str], now: float) -> str:
        words = [waiting_words(pods)]
        if self._refusal:
            words.append(
                f"Kubernetes creates no more pods: {self._refusal}; planning with {self._existing},"
                " more are requested as soon as a pod can be created"
            )
        words.append(stuck_text(self._stuck_pods))
        silent = unreachable(pods, self._unregistered.ever_registered, now)
        words += self._unreached(silent)
        return "; ".join(filter(None, words))

    def _unreached(self, silent: Collection[str]) -> list[str]:
        """Return the problems of executors that do not register; the first one is logged."""
        names = ", ".join(list(silent)[:3])
        quiet = f"{names} run but have not registered for a minute" if silent else ""
        at = f" at {self._driver}" if self._driver else ""
        words = [
            f"{text}: can they reach the driver{at}? See spark.driver.host (from Spark 4.3 on"
            " spark.driver.bindAddress), spark.driver.port and the pods' logs"
            for text in (quiet, self._unregistered.words())
            if text
        ]
        if words and _UNREACHED not in self._logged:
            self._logged.add(_UNREACHED)
            _log.warning("rheostat: %s", words[0])
        return words

    def _refusal_text(self, refused: Refused, what: str) -> str:
        """Return a description of the API server's failure; log each kind once."""
        place = f"namespace {self.pods.namespace}"
        lines = {
            401: "the API server rejects the token (401): waiting for a new one, the job runs on",
            403: f"{what} in {place} may not be listed; add to the driver's role:"
            f" {_RULE.format(what)}",
            404: f"{place} does not exist according to the API server: {refused}",
        }.get(refused.code, f"the API server does not answer: {refused}")
        if lines not in self._logged:
            self._logged.add(lines)
            _log.warning("rheostat: %s", lines)
        return lines
