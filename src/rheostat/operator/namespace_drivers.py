"""The drivers of a Kubernetes namespace (of resources, or by labels) as jobs of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from rheostat.control.jobs import AbsentJob, DriverJob, Scan
from rheostat.errors import BadInput, RheostatError
from rheostat.operator.driver_pod import driver_of
from rheostat.operator.streaming_application import (
    CONTROL_PORT,
    GROUP,
    PLURAL,
    ROLE,
    VERSION,
    application_of,
)

Body = Mapping[str, Any]
Read = Callable[[], tuple[Iterable[Body], Iterable[Body]]]
"""Returns the pods and the resources of a namespace."""


def namespace_scan(place: str, token: str | None, read: Read | None = None) -> Scan:
    """Return the scan of ``k8s://NAMESPACE?LABEL=VALUE&port=8085``.

    Without labels, the operator's resources are listed, too. Drivers are called over plain HTTP.
    Raises BadInput if ``place`` has no namespace, or if no cluster is configured.
    """
    parts = urlsplit(place)
    labels = dict(parse_qsl(parts.query))
    port = labels.pop("port", str(CONTROL_PORT))
    if not parts.netloc or not port.isdecimal():
        raise BadInput(f"use k8s://NAMESPACE or k8s://NAMESPACE?LABEL=VALUE, not {place}")
    read = read or _reader(parts.netloc, {**labels, **ROLE})

    def scan() -> Iterator[DriverJob]:
        pods, resources = read()
        running = [pod for pod in pods if driver_of(pod).running]
        for body in () if labels else resources:
            yield _job_of(body, running, token)
        for pod in running:  # the pods that belong to no resource
            address = f"{driver_of(pod).ip}:{port}"
            yield DriverJob(address, token, _labels(pod).get("app", pod["metadata"]["name"]))

    return scan


def _job_of(body: Body, running: list[Body], token: str | None) -> DriverJob:
    """Return the job of a resource, and remove its driver pods from ``running``."""
    name = body["metadata"]["name"]
    try:
        wanted = application_of(body)
    except BadInput as wrong:
        return AbsentJob(name, f"the resource is invalid: {wrong}")
    own = [pod for pod in running if wanted.labels.items() <= _labels(pod).items()]
    running[:] = [pod for pod in running if pod not in own]
    if not own:
        return AbsentJob(name, "no pod of its driver runs")
    return DriverJob(f"{driver_of(own[0]).ip}:{wanted.control_port}", token, name)


def _labels(pod: Body) -> Mapping[str, str]:
    return pod["metadata"].get("labels") or {}


def _reader(namespace: str, labels: Mapping[str, str]) -> Read:
    from kubernetes import client, config

    try:
        config.load_config()
    except config.ConfigException as fault:
        raise BadInput(f"no cluster: not in a pod, and no usable KUBECONFIG: {fault}") from None
    core, custom = client.CoreV1Api(), client.CustomObjectsApi()
    selector = ",".join(f"{name}={value}" for name, value in labels.items())

    def read() -> tuple[Iterable[Body], Iterable[Body]]:
        try:
            pods = core.list_namespaced_pod(namespace, label_selector=selector).items
            plain = [core.api_client.sanitize_for_serialization(pod) for pod in pods]
            return plain, _resources(custom, namespace)
        except client.ApiException as fault:
            raise RheostatError(f"namespace {namespace}: {fault.status} {fault.reason}") from None

    return read


def _resources(custom: Any, namespace: str) -> Iterable[Body]:
    """Return the resources of a namespace; empty if their kind is not installed or not readable."""
    from kubernetes import client

    try:
        answer = custom.list_namespaced_custom_object(GROUP, VERSION, namespace, PLURAL)
    except client.ApiException as fault:
        if fault.status in (403, 404):
            return []
        raise
    return list(answer["items"])
