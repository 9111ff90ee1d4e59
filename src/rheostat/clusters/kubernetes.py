"""The cluster manager Kubernetes; ``pods.py`` reads the answers of its API server."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from rheostat.clusters.cluster_manager import ClusterManager, Get, good, idle, is_graceful
from rheostat.errors import BadInput
from rheostat.model import Finding

IMAGES = ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image")
HOST, BOUND = "spark.driver.host", "spark.driver.bindAddress"
POD_IP, _ON_SINCE = "spark.kubernetes.executor.useDriverPodIP", (4, 3)
_BATCH, _DELAY = "spark.kubernetes.allocation.batch.size", "spark.kubernetes.allocation.batch.delay"
_TEMPLATE = "spark.kubernetes.executor.podTemplateFile"
_USUAL_BATCH = {"3": 5, "4": 10}
"""The number of pods that Spark requests at a time, by Spark's major version."""

_NAMESPACE = re.compile(r'namespaces \\?"([^"\\]+)\\?" not found')
_FORBIDDEN = re.compile(
    r'cannot (\w+) resource \\?"([^"\\]+)\\?" in API group \\?"([^"\\]*)\\?"'
    r'(?: in the namespace \\?"([^"\\]+))?'
)
_TOKEN = re.compile(r"\b401\b.{0,40}Unauthorized|Unauthorized.{0,40}\b401\b|code=401", re.DOTALL)


class Kubernetes(ClusterManager):
    """Kubernetes, addressed through its API server."""

    masters = ("k8s://",)

    def check(self, master: str, environment: Mapping[str, str], given: Collection[str]) -> None:
        """Raise BadInput if no container image for executors is configured."""
        if not set(IMAGES) & set(given):
            raise BadInput(
                f"{IMAGES[0]} is not set, so {master} cannot make executors; set it to an image"
                " with your Spark and Python (a Kubernetes on this computer: rheostat cluster up"
                " --kind kubernetes)"
            )

    def findings(self, get: Get, executors: int, spark_version: str) -> Iterator[Finding]:
        """Yield whatever prevents graceful decommissioning, and a small pod allocation batch."""
        yield from super().findings(get, executors, spark_version)
        if is_graceful(get) and not get(_TEMPLATE, ""):
            yield good(
                "a pod that a person or a drained node deletes has Kubernetes' 30 s for its tasks;"
                " for longer batches raise terminationGracePeriodSeconds in a template, and add"
                f" {_TEMPLATE}=FILE"
            )
        usual = str(_USUAL_BATCH.get(spark_version.partition(".")[0], 10))
        batch = get(_BATCH, usual)
        # At least one executor is registered already, so only the others are requested.
        if batch.isdecimal() and 0 < int(batch) < executors - 1:
            yield idle(
                f"pods are requested {batch} at a time, one batch every {get(_DELAY, '1s')} once"
                f" the last one has appeared; for a jump to {executors} executors add"
                f" {_BATCH}={executors}"
            )

    def address_findings(self, get: Get, spark_version: str) -> Iterator[Finding]:
        """Yield problems with the address at which pods connect to the driver.

        With ``spark.kubernetes.executor.useDriverPodIP`` (since Spark 4.1, the default since 4.3),
        executors connect to ``spark.driver.bindAddress``, which ``SparkContext`` then also uses as
        ``spark.driver.host``. A driver outside the cluster, or a Spark Connect server, is usually
        bound to 0.0.0.0 (SPARK-58748).
        """
        host = get(HOST, "")
        bound = get(BOUND, host)
        called, setting = (bound, BOUND) if _calls_bound(get, spark_version) else (host, HOST)
        ip = _ip(called)
        if ip and ip.is_unspecified:
            also = "" if setting == HOST else f"{POD_IP}=false and "
            yield _address(
                f"executors call the driver at {called} ({setting}), which is not reachable;"
                f" add {also}{HOST}=an address that pods reach"
            )
        elif ip and ip.is_loopback:
            yield _address(
                f"executors call the driver at {called} ({setting}), which in a pod is the pod"
                f" itself; add {setting}=an address that pods reach"
            )

    def refusal(self, message: str) -> str | None:
        """Return why Kubernetes refused an application: its namespace, permissions or token."""
        namespace = _NAMESPACE.search(message)
        if namespace:
            return (
                f"Kubernetes has no namespace {namespace[1]}; set spark.kubernetes.namespace to an"
                f" existing one, or create it: kubectl create namespace {namespace[1]}"
            )
        forbidden = _FORBIDDEN.search(message)
        if forbidden:
            verb, resource, group, place = forbidden.groups()
            return (
                f"the driver may not {verb} {resource} in namespace {place or 'default'}; add to"
                f' its role: apiGroups: ["{group}"], resources: ["{resource}"], verbs: ["{verb}"]'
            )
        if _TOKEN.search(message):
            return (
                "the API server rejects the driver's token (401); set a new one in"
                " spark.kubernetes.authenticate.oauthTokenFile"
            )
        return None

    def deletes(self, folder: Path) -> bool:
        """Return whether ``folder`` of a driver's pod is not on a volume."""
        return folder.stat().st_dev == Path("/").stat().st_dev


def _calls_bound(get: Get, spark_version: str) -> bool:
    major, minor = (int(part) for part in spark_version.split(".")[:2])
    usual = "true" if (major, minor) >= _ON_SINCE else "false"
    # Spark versions before 4.1 ignore this setting.
    return (major, minor) >= (4, 1) and get(POD_IP, usual).strip().lower() == "true"


def _ip(address: str) -> IPv4Address | IPv6Address | None:
    """Return an address as a value; None for a host name, except ``localhost``."""
    try:
        return ip_address("127.0.0.1" if address == "localhost" else address.strip("[]"))
    except ValueError:
        return None


def _address(line: str) -> Finding:
    return Finding(topic="the driver's address", state="idle", line=line)
