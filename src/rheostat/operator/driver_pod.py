"""Reads a driver's pod from its JSON, and builds one from a resource's template."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from rheostat.operator.observed import Driver
from rheostat.operator.streaming_application import GROUP, KIND, VERSION, Application, own_labels

INCARNATION, SIZE = f"{GROUP}/incarnation", f"{GROUP}/size"
EXECUTORS = "RHEOSTAT_EXECUTORS"


def driver_of(pod: Mapping[str, Any]) -> Driver:
    """Return the driver that a pod's JSON describes."""
    meta, status = pod["metadata"], pod.get("status") or {}
    notes = meta.get("annotations") or {}
    return Driver(
        name=meta["name"],
        uid=meta["uid"],
        ip=status.get("podIP"),
        running=status.get("phase") == "Running" and bool(status.get("podIP")),
        ended=status.get("phase") in ("Succeeded", "Failed"),
        leaving=bool(meta.get("deletionTimestamp")),
        incarnation=int(notes.get(INCARNATION, 0)),
        size=int(notes[SIZE]) if SIZE in notes else None,
        end=_end(status),
    )


def _end(status: Mapping[str, Any]) -> str:
    """Return how a pod ended: its phase, and the reason and exit code of each container."""
    if status.get("phase") not in ("Succeeded", "Failed"):
        return ""
    ends = [
        container.get("state", {}).get("terminated")
        for container in status.get("containerStatuses", ())
    ]
    reasons = [
        f"{end.get('reason') or 'ended'} (exit code {end['exitCode']})" for end in ends if end
    ]
    return ", ".join((status.get("reason") or status["phase"], *reasons))


def driver_pod(application: Application, incarnation: int, size: int) -> dict[str, Any]:
    """Return the pod: the template with labels, annotations, owner and executor count."""
    pod = copy.deepcopy(dict(application.template or {}))
    meta = dict(pod.get("metadata") or {})
    meta["name"] = f"{application.name}-driver-{incarnation}"
    meta["namespace"] = application.namespace
    meta["labels"] = {**(meta.get("labels") or {}), **own_labels(application.name)}
    notes = {INCARNATION: str(incarnation), SIZE: str(size)}
    meta["annotations"] = {**(meta.get("annotations") or {}), **notes}
    meta["ownerReferences"] = [
        {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": KIND,
            "name": application.name,
            "uid": application.uid,
            "controller": True,
        }
    ]
    spec = dict(pod.get("spec") or {})
    spec.setdefault("restartPolicy", "Never")
    for container in spec.get("containers", ()):
        others = [
            variable for variable in container.get("env", ()) if variable.get("name") != EXECUTORS
        ]
        container["env"] = [{"name": EXECUTORS, "value": str(size)}, *others]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
