"""Passes kopf's events of resources and driver pods to the controller.

It writes no annotations or finalizers, so resources can be deleted without an operator.
"""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kopf
from kubernetes import client

from rheostat.operator.cluster_api import ApiCluster
from rheostat.operator.control_client import ControlClient
from rheostat.operator.controller import Controller
from rheostat.operator.metrics_server import certificate, context, serve
from rheostat.operator.streaming_application import GROUP, PLURAL, ROLE, VERSION

_APISERVICE = "v1beta1.external.metrics.k8s.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorConfig:
    """The operator's options; ``metrics`` is the address (host, port) of its server."""

    token: str | None
    round_s: float
    metrics: tuple[str, int] | None
    names: tuple[str, ...]
    leads: Callable[[], bool] = lambda: True


def registry_of(config: OperatorConfig) -> kopf.OperatorRegistry:
    """Return kopf's registry with the handlers of an operator."""
    registry = kopf.OperatorRegistry()
    kept: dict[str, Any] = {}

    @kopf.on.login(registry=registry)
    def login(**given: Any) -> Any:
        return kopf.login_via_client(**given)

    @kopf.on.startup(registry=registry)
    async def begin(settings: kopf.OperatorSettings, **_: Any) -> None:
        settings.posting.enabled = False
        settings.scanning.disabled = True
        settings.watching.server_timeout = 240
        settings.watching.client_timeout = 300
        settings.watching.connect_timeout = 10
        kept["drivers"] = ControlClient(config.token, leads=config.leads)
        cluster = ApiCluster(config.leads)
        kept["controller"] = Controller(cluster, kept["drivers"], config.round_s)
        if config.metrics:
            kept["metrics"] = await _serve(config, kept["controller"])

    @kopf.on.cleanup(registry=registry)
    async def end(**_: Any) -> None:
        kept["controller"].close()
        await kept["drivers"].close()
        if "metrics" in kept:
            await kept["metrics"].cleanup()

    @kopf.on.event(GROUP, VERSION, PLURAL, registry=registry)
    async def resource(body: kopf.Body, type: str | None, **_: Any) -> None:  # noqa: A002
        kept["controller"].update(_plain(body), type == "DELETED")

    # Kopf fills an index before it calls other handlers. So the controller knows all driver pods
    # before it reconciles a resource, and never mistakes a running driver for a missing one.
    @kopf.index("", "v1", "pods", labels=ROLE, registry=registry)
    async def drivers(body: kopf.Body, **_: Any) -> None:
        kept["controller"].update_pod(_plain(body))

    @kopf.on.event("", "v1", "pods", labels=ROLE, registry=registry)
    async def pod(body: kopf.Body, type: str | None, **_: Any) -> None:  # noqa: A002
        kept["controller"].update_pod(_plain(body), type == "DELETED")

    return registry


def _plain(body: kopf.Body) -> dict[str, Any]:
    """Return a body as plain values, without ``managedFields`` to save memory."""
    read = {name: body[name] for name in ("metadata", "spec", "status") if name in body}
    meta = {name: value for name, value in read["metadata"].items() if name != "managedFields"}
    return {**read, "metadata": meta}


async def _serve(config: OperatorConfig, controller: Controller) -> Any:
    host, port = config.metrics or ("", 0)
    with tempfile.TemporaryDirectory() as folder:
        cert, key = certificate(Path(folder), list(config.names))
        tls = context(cert, key, _aggregator())
        _publish_certificate(cert.read_bytes())
    return await serve(host, port, tls, controller.report)


def _aggregator() -> str | None:
    """Return the CA of the API server's aggregation layer; None if it cannot be read."""
    try:
        read = client.CoreV1Api().read_namespaced_config_map(
            "extension-apiserver-authentication", "kube-system"
        )
    except client.ApiException:
        return None
    return (read.data or {}).get("requestheader-client-ca-file") or None


def _publish_certificate(cert: bytes) -> None:
    """Set our certificate in the APIService that refers to this server, if it exists."""
    spec = {"caBundle": base64.b64encode(cert).decode(), "insecureSkipTLSVerify": False}
    try:
        client.ApiregistrationV1Api().patch_api_service(_APISERVICE, {"spec": spec})
    except client.ApiException as fault:
        if fault.status != 404:
            raise
