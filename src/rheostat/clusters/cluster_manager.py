"""The port to a cluster manager: what differs between Standalone, YARN and Kubernetes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

from rheostat.clusters import scaling_settings as scaling
from rheostat.clusters.scaling_settings import Wanted
from rheostat.model import Finding

Get = Callable[[str, str], str]
"""Returns a setting of Spark, or its default."""

_TOPIC = "leaving in order"
_DECOMMISSION = "spark.decommission.enabled"
_TOLERATED = 100


class ClusterManager:
    """What Rheostat knows of a cluster manager; these answers fit one that is not known."""

    starts_with_all = False
    """Whether an application without dynamic allocation starts with all executors that
    ``spark.cores.max`` allows, and not with a number of executors."""

    def accepts(self, master: str) -> bool:
        """Return whether ``master`` names this kind."""
        return True

    def check(self, master: str, environment: Mapping[str, str], given: Collection[str]) -> None:
        """Raise BadInput where Spark cannot find the cluster or create executors on it; ``given``
        are the names of the user's settings.
        """

    def wanted(self, executors: int, cores: int) -> dict[str, Wanted]:
        """Return the settings for at most so many executors of so many cores."""
        return scaling.failures()

    def findings(self, get: Get, executors: int, spark_version: str) -> Iterator[Finding]:
        """Yield what keeps executors from leaving in order, for at most so many executors."""
        yield decommissioning(get)
        yield from _tolerance(get)

    def address_findings(self, get: Get, spark_version: str) -> Iterator[Finding]:
        """Yield what is wrong with the address at which executors call the driver."""
        yield from ()

    def refusal(self, message: str) -> str | None:
        """Return why it refused an application and how to correct that, from Spark's stack trace;
        None for an unknown cause.
        """
        return None

    def deletes(self, folder: Path) -> bool:
        """Return whether a local folder of a driver in a container goes with the container."""
        return False


def decommissioning(get: Get) -> Finding:
    """Return whether executors end their tasks before they leave."""
    if get(_DECOMMISSION, "false").strip().lower() == "true":
        return good("an executor that is to leave ends its tasks first")
    return idle(
        f"executors leave only while idle between two batches; add {_DECOMMISSION}=true (before the"
        " start: it cannot be set live)"
    )


def _tolerance(get: Get) -> Iterator[Finding]:
    """Yield how few lost executors, or pods that a quota refuses, would end the application."""
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
    """Return a finding that a setting would correct."""
    return Finding(topic=_TOPIC, state="idle", line=line)
