"""The cluster manager Spark Standalone."""

from __future__ import annotations

from collections.abc import Iterator

from rheostat.clusters import scaling_settings as scaling
from rheostat.clusters.cluster_manager import ClusterManager, Get, decommissioning
from rheostat.clusters.scaling_settings import Wanted
from rheostat.model import Finding


class Standalone(ClusterManager):
    """A Standalone master, or ``local-cluster``."""

    masters = ("spark://", "local-cluster")
    starts_with_all = True

    def wanted(self, executors: int, cores: int) -> dict[str, Wanted]:
        """Return the size of an executor, and the ceiling in cores, which the master enforces."""
        return {
            scaling.CORES: Wanted(
                str(cores), "otherwise an executor occupies a whole worker of a Standalone cluster"
            ),
            scaling.CORES_MAX: Wanted(
                str(executors * cores), f"the ceiling: room for {executors} executors"
            ),
        }

    def findings(self, get: Get, executors: int, spark_version: str) -> Iterator[Finding]:
        """Yield whether executors are decommissioned; Standalone tolerates all failures."""
        yield decommissioning(get)
