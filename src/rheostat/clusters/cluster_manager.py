"""The port to a cluster manager: how Standalone, YARN and Kubernetes differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from rheostat.clusters import scaling_settings as scaling
from rheostat.clusters.scaling_settings import Wanted
from rheostat.model import Finding

Get = Callable[[str, str], str]
"""Returns the value of a Spark setting, or the given default."""

_TOPIC = "decommissioning"
_TOLERATED = 100


class ClusterManager:
    """The port to a cluster manager; its own methods are the defaults for an unknown one."""

    masters: tuple[str, ...] = ()
    """How the URLs of its masters begin."""

    starts_with_all = False
    """Whether an application without dynamic allocation starts with all executors that
    ``spark.cores.max`` allows instead of a configured number."""

    def check(self, master: str, environment: Mapping[str, str], given: Collection[str]) -> None:
        """Raise BadInput if Spark cannot find the cluster or create executors on it; ``given`` are
        the names of the settings that the user has configured.
        """

    def wanted(self, executors: int, cores: int) -> dict[str, Wanted]:
        """Return the settings for at most ``executors`` executors with ``cores`` cores each."""
        return scaling.failures()

    def findings(self, get: Get, executors: int, spark_version: str) -> Iterator[Finding]:
        """Yield whatever prevents graceful decommissioning of up to ``executors`` executors."""
        yield decommissioning(get)
        yield from _tolerance(get)

    def address_findings(self, get: Get, spark_version: str) -> Iterator[Finding]:
        """Yield problems with the address at which executors connect to the driver."""
        yield from ()

    def refusal(self, message: str) -> str | None:
        """Return why the cluster manager refused an application and how to correct it, from Spark's
        stack trace; None for an unknown cause.
        """
        return None

    def deletes(self, folder: Path) -> bool:
        """Return whether a driver's local ``folder`` is deleted together with its container."""
        return False


def is_graceful(get: Get) -> bool:
    """Return whether executors are decommissioned."""
    return get(scaling.DECOMMISSION, "false").strip().lower() == "true"


def decommissioning(get: Get) -> Finding:
    """Return whether executors finish their tasks before they are removed."""
    if is_graceful(get):
        return good("an executor that is to leave ends its tasks first")
    return idle(
        "executors leave only while idle between two batches; add"
        f" {scaling.DECOMMISSION}=true (before the start: it cannot be set live)"
    )


def _tolerance(get: Get) -> Iterator[Finding]:
    """Yield a finding if a few lost executors or refused pods would end the application."""
    most = get(scaling.FAILURES, "")
    if not most.isdecimal() or int(most) < _TOLERATED:
        initial = get("spark.executor.instances", "2")
        tolerated = most or max(3, 2 * (int(initial) if initial.isdecimal() else 2))
        yield idle(
            f"Spark ends this application after {tolerated} failed executors in its life; add"
            f" {scaling.FAILURES}={_TOLERATED} and spark.executor.failuresValidityInterval=10m"
        )


def good(line: str) -> Finding:
    """Return a finding that needs no action."""
    return Finding(topic=_TOPIC, state="good", line=line)


def idle(line: str) -> Finding:
    """Return a finding that a setting can correct."""
    return Finding(topic=_TOPIC, state="idle", line=line)
