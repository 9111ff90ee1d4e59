"""The list of cluster managers, and the choice of one by a master URL."""

from __future__ import annotations

from rheostat.clusters.cluster_manager import ClusterManager
from rheostat.clusters.kubernetes import Kubernetes
from rheostat.clusters.standalone import Standalone
from rheostat.clusters.yarn import Yarn

MANAGERS: tuple[ClusterManager, ...] = (Standalone(), Yarn(), Kubernetes())


def cluster_manager(master: str) -> ClusterManager:
    """Return the cluster manager of a master URL; the port's defaults for an unknown one."""
    accepting = (manager for manager in MANAGERS if master.startswith(manager.masters))
    return next(accepting, ClusterManager())


def why_refused(message: str) -> str | None:
    """Return why a cluster manager refused an application, from Spark's message, or None."""
    return next(filter(None, (manager.refusal(message) for manager in MANAGERS)), None)
