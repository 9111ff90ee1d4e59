"""The cluster manager Hadoop YARN."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from rheostat.clusters.cluster_manager import ClusterManager, Get, good, idle
from rheostat.errors import BadInput
from rheostat.model import Finding

_FOLDERS = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_HERE = "a YARN on this computer: rheostat cluster up --kind yarn"
_EXCLUDE = "spark.excludeOnFailure.killExcludedExecutors.decommission"
_QUEUE = re.compile(
    r"(?:unknown queue\s*:?\s*|non-existent queue\s*:?\s*|to non-leaf queue\s*:?\s*)([^\s,.;]+)"
    r"|queue\s+(?:named\s+)?'?([^\s',]+)'?\s+(?:does not exist|doesn't exist|is not a leaf)",
    re.IGNORECASE,
)
_ENDED = re.compile(r"application has already ended!.*Application Master", re.DOTALL)


class Yarn(ClusterManager):
    """YARN, addressed through its resource manager."""

    masters = ("yarn",)

    def check(self, master: str, environment: Mapping[str, str], given: Collection[str]) -> None:
        """Raise BadInput unless the environment names a folder with ``yarn-site.xml``."""
        named = {name: environment[name] for name in _FOLDERS if environment.get(name)}
        if not named:
            raise BadInput(
                "the master is yarn, but neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set; name the"
                f" folder with yarn-site.xml ({_HERE})"
            )
        if not any((Path(folder) / "yarn-site.xml").is_file() for folder in named.values()):
            name, folder = next(iter(named.items()))
            raise BadInput(
                f"{name}={folder} holds no yarn-site.xml, so YARN cannot be found; name the folder"
                f" that does ({_HERE})"
            )

    def findings(self, get: Get, executors: int, spark_version: str) -> Iterator[Finding]:
        """Yield whatever prevents graceful decommissioning."""
        yield from super().findings(get, executors, spark_version)
        if get("spark.excludeOnFailure.enabled", "").strip().lower() == "true" and (
            get(_EXCLUDE, "false").strip().lower() != "true"
        ):
            yield idle(
                "an executor that failed too often is killed with its tasks; add"
                f" {_EXCLUDE}=true, and it ends them first"
            )
        yield good(
            "a NodeManager that is decommissioned gives its containers the time of YARN's"
            " yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs, which is the"
            " cluster's, not the application's"
        )

    def refusal(self, message: str) -> str | None:
        """Return why YARN refused an application: its queue, or an unreachable driver."""
        queue = _QUEUE.search(message)
        if queue:
            return (
                f"YARN accepts no applications in the queue {queue[1] or queue[2]}; set"
                " spark.yarn.queue to an existing leaf queue (yarn queue -list)"
            )
        if _ENDED.search(message):
            return (
                "YARN ended the application before it began: can its nodes reach this driver?"
                " See spark.driver.host and spark.driver.port; the log of the application"
                " master says more (yarn logs -applicationId ...)"
            )
        return None

    def deletes(self, folder: Path) -> bool:
        """Return True: YARN deletes every local folder with the container."""
        return True
