"""Elects one of several operators as leader through a Lease of the cluster; the others wait."""

from __future__ import annotations

import datetime as dt
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import urllib3
from kubernetes import client

from rheostat.operator.candidate import LEASE_S, TURN_S, Candidate, Held

_log = logging.getLogger("rheostat")
_ANSWER_S = 4.0
_GONE, _CONFLICT = 404, 409


def passed_s() -> float:
    """Return seconds of a monotonic clock that continues while the computer sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class Leadership:
    """Leads or waits to lead; losing the lease ends the process at once."""

    def __init__(self, namespace: str, name: str, me: str) -> None:
        self._place = f"{namespace}/{name}"
        self._candidate = Candidate(me, ApiLease(namespace, name))

    def await_turn(self) -> None:
        """Block until this operator leads; from then on a thread renews the lease."""
        while not self._turned():
            time.sleep(TURN_S)
        threading.Thread(target=self._renew_until_lost, name="rheostat-lease", daemon=True).start()

    def leads(self) -> bool:
        """Return whether this operator leads; check this before each write."""
        return self._candidate.leads(passed_s())

    def release(self) -> None:
        """Release the lease so that another operator can lead at once."""
        try:
            self._candidate.release(passed_s())
        except OSError as fault:
            _log.debug("rheostat: the lease %s is not released: %s", self._place, fault)

    def _turned(self) -> bool:
        try:
            self._candidate.turn(passed_s())
        except OSError as fault:
            _log.warning("rheostat: the lease %s: %s", self._place, fault)
        return self.leads()

    def _renew_until_lost(self) -> None:
        while self._turned():
            time.sleep(TURN_S)
        _log.warning("rheostat: the lease %s is lost; another operator takes over", self._place)
        os._exit(1)


class ApiLease:
    """The Lease object in the Kubernetes API."""

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace, self._name = namespace, name
        self._api = client.CoordinationV1Api()

    def read(self) -> Held | None:
        """Return the lease, or None if it does not exist."""
        read = _answer(self._api.read_namespaced_lease, self._name, self._namespace)
        return (
            Held(read.spec.holder_identity or "", read.metadata.resource_version) if read else None
        )

    def write(self, holder: str, version: str | None) -> bool:
        """Write the holder; return False if another process has written since ``version``."""
        now = dt.datetime.now(dt.timezone.utc)  # informational: no candidate reads it
        spec = client.V1LeaseSpec(
            holder_identity=holder, lease_duration_seconds=LEASE_S, renew_time=now
        )
        meta = client.V1ObjectMeta(name=self._name, resource_version=version)
        body = client.V1Lease(metadata=meta, spec=spec)
        if version is None:
            written = _answer(self._api.create_namespaced_lease, self._namespace, body)
        else:
            replaced = self._api.replace_namespaced_lease
            written = _answer(replaced, self._name, self._namespace, body)
        return written is not None


def _answer(call: Callable[..., Any], *given: Any) -> Any:
    """Return an answer; None if the lease is missing or was changed, OSError for other faults."""
    try:
        return call(*given, _request_timeout=_ANSWER_S)
    except client.ApiException as refused:
        if refused.status in (_GONE, _CONFLICT):
            return None
        raise OSError(f"the API server answered {refused.status}: {refused.reason}") from None
    except urllib3.exceptions.HTTPError as fault:
        raise OSError(str(fault)) from None
