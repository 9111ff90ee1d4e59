"""The Kubernetes API through the official client, in threads because the operator writes rarely."""

from __future__ import annotations

import asyncio
import datetime as dt
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

from kubernetes import client

from rheostat.operator.operator_ports import ApiError, require_lead
from rheostat.operator.streaming_application import GROUP, KIND, PLURAL, VERSION

_GONE, _THERE = 404, 409
_WHERE = {"group": GROUP, "version": VERSION, "plural": PLURAL}


class ApiCluster:
    """Performs the writes of ``Controller``; unexpected errors raise the client's ApiException.

    A write while ``leads`` returns False raises NotLeading.
    """

    def __init__(self, leads: Callable[[], bool] = lambda: True) -> None:
        self._leads = leads
        self._custom = client.CustomObjectsApi()
        self._core = client.CoreV1Api()

    async def write_status(self, namespace: str, name: str, status: Mapping[str, Any]) -> None:
        """Merge ``status`` into the status of a resource."""
        where = {**_WHERE, "namespace": namespace, "name": name, "body": {"status": dict(status)}}
        await self._call(self._custom.patch_namespaced_custom_object_status, _GONE, **where)

    async def write_scale(self, namespace: str, name: str, replicas: int) -> None:
        """Write the size to a resource's scale sub-resource."""
        body = {"spec": {"replicas": replicas}}
        where = {**_WHERE, "namespace": namespace, "name": name, "body": body}
        await self._call(self._custom.patch_namespaced_custom_object_scale, _GONE, **where)

    async def secret(self, namespace: str, name: str) -> Mapping[str, str]:
        """Return the values of a Secret as text; raises ``ApiError`` if it cannot be read."""
        try:
            read = await asyncio.to_thread(self._core.read_namespaced_secret, name, namespace)
            return {key: b64decode(value).decode() for key, value in (read.data or {}).items()}
        except (client.ApiException, ValueError) as fault:
            why = getattr(fault, "reason", None) or "it is not text"
            message = f"the Secret {namespace}/{name} cannot be read: {why}"
            raise ApiError("NoSecret", message) from None

    async def start(self, pod: Mapping[str, Any]) -> None:
        """Create a pod."""
        where = {"namespace": pod["metadata"]["namespace"], "body": dict(pod)}
        await self._call(self._core.create_namespaced_pod, _THERE, **where)

    async def stop(self, namespace: str, name: str, uid: str) -> None:
        """Delete a pod unless a different pod has its name by now."""
        only = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid=uid))
        call = self._core.delete_namespaced_pod
        await self._call(call, _GONE, _THERE, name=name, namespace=namespace, body=only)

    async def tell(self, body: Mapping[str, Any], kind: str, reason: str, message: str) -> None:
        """Write an event about a resource."""
        meta = body["metadata"]
        about = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": KIND,
            "name": meta["name"],
            "namespace": meta["namespace"],
            "uid": meta["uid"],
        }
        now = dt.datetime.now(dt.timezone.utc).isoformat()
        event = {
            "metadata": {"generateName": f"{meta['name']}-", "namespace": meta["namespace"]},
            "involvedObject": about,
            "type": kind,
            "reason": reason,
            "message": message[:1000] or reason,
            "source": {"component": "rheostat-operator"},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        where = {"namespace": meta["namespace"], "body": event}
        await self._call(self._core.create_namespaced_event, _GONE, 403, **where)

    async def _call(self, call: Callable[..., Any], *forgiven: int, **given: Any) -> None:
        require_lead(self._leads)
        try:
            await asyncio.to_thread(call, **given)
        except client.ApiException as fault:
            if fault.status not in forgiven:
                raise
