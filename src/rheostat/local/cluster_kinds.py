"""The kinds of cluster that this computer can have: Standalone, YARN and Kubernetes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psutil

from rheostat.errors import BadInput
from rheostat.local.cluster_sizes import check_cores
from rheostat.local.standalone import standalone_cluster, standalone_service

KINDS = ("standalone", "yarn", "kubernetes")


class LocalCluster(Protocol):
    """A cluster on this computer that ends with this process, files and executors included; a
    context manager starts and stops it.
    """

    @property
    def url(self) -> str:
        """What a session takes as its master, once the cluster runs."""
        ...

    @property
    def folder(self) -> Path:
        """Where its files are; it goes with the cluster."""
        ...

    @property
    def settings(self) -> Mapping[str, str]:
        """What a session on it sets beside the master, once the cluster runs."""
        ...

    def driver_environment(self) -> dict[str, str]:
        """Return what a driver needs in its environment."""
        ...

    def executors(self) -> list[psutil.Process]:
        """List the processes of the executors, oldest first."""
        ...

    def __enter__(self) -> Any:
        """Start it."""
        ...

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        ...


@dataclass(frozen=True, slots=True)
class Up:
    """A cluster that is up: its master, and the variables that a driver's environment needs."""

    kind: str
    url: str
    environment: Mapping[str, str] = field(default_factory=dict)


def local_cluster(
    kind: str, cores: int, nodes: int = 1, tell: Callable[[str], None] = lambda _: None
) -> LocalCluster:
    """Return a cluster of a kind with room for ``cores`` executors of one core on ``nodes`` nodes;
    nothing runs before its start.

    ``tell`` is told what is fetched or built at the first use. Raises ``BadInput`` for another
    kind.
    """
    check_kind(kind)
    check_cores(cores)
    if kind == "yarn":
        from rheostat.local.yarn.yarn_cluster import YarnCluster

        _tell_of_yarn(tell)
        return YarnCluster(cores, nodes)
    if kind == "kubernetes":
        from rheostat.local.kubernetes.kubernetes_cluster import KubernetesCluster

        return KubernetesCluster(cores, nodes, tell=tell)
    return standalone_cluster.Cluster(cores, hosts=standalone_cluster.HOSTS[:nodes])


def up(
    kind: str,
    cores: int,
    nodes: int = 1,
    port: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Up:
    """Start a cluster that outlives this process; ``down`` ends it.

    ``port`` is that of a Standalone master. Raises ``BadInput`` if one of the kind is up, and for
    options that the kind does not have.
    """
    check_kind(kind)
    check_cores(cores)
    if port is not None and kind != "standalone":
        raise BadInput(f"--port is for a Standalone master; a {kind} cluster takes free ports")
    if kind == "standalone":
        if nodes != 1:
            raise BadInput(f"a Standalone cluster here has 1 worker, but --nodes {nodes} was given")
        return Up(kind, standalone_service.up(cores=cores, port=port))
    if kind == "yarn":
        from rheostat.local.yarn import yarn_cluster

        _tell_of_yarn(tell)
        conf = yarn_cluster.up(cores, nodes)
        where = {"HADOOP_CONF_DIR": str(conf), "SPARK_CONF_DIR": str(conf)}
        return Up(kind, yarn_cluster.MASTER, where)
    from rheostat.local.kubernetes import kubernetes_cluster

    master, conf = kubernetes_cluster.up(cores, nodes, tell=tell)
    named = {"SPARK_CONF_DIR": str(conf), "KUBECONFIG": str(conf / "kubeconfig")}
    return Up(kind, master, named)


def down(kind: str | None = None) -> list[str]:
    """End the clusters that ``up`` started, of one kind or of all; return their masters."""
    if kind is not None:
        check_kind(kind)
    from rheostat.local.kubernetes import kubernetes_cluster
    from rheostat.local.yarn import yarn_cluster

    ways = {
        "standalone": standalone_service.down,
        "yarn": yarn_cluster.down,
        "kubernetes": kubernetes_cluster.down,
    }
    ended = [ways[each]() for each in KINDS if kind in (None, each)]
    return [each for each in ended if each]


def check_kind(kind: str) -> None:
    """Raise ``BadInput`` for a kind of cluster that there is not."""
    if kind not in KINDS:
        raise BadInput(f"the kind of cluster must be one of {', '.join(KINDS)}, but it is {kind!r}")


def _tell_of_yarn(tell: Callable[[str], None]) -> None:
    from rheostat.local.spark_home import find_spark_home
    from rheostat.local.yarn import yarn_jars

    if not yarn_jars.are_cached(find_spark_home()):
        tell(yarn_jars.FETCH)
