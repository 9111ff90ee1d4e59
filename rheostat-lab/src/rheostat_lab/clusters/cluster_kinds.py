"""The kinds of cluster that can run on this machine.

Standalone is built in. Another distribution adds a kind as an entry point of the group
``rheostat.clusters``, named after the kind, whose object is a ``ClusterKind``; ``rheostat-lab``
adds YARN and Kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import psutil

from rheostat.errors import BadInput
from rheostat.local.standalone_cluster import check_cores
from rheostat.machine.missing_module import Installation
from rheostat_lab.clusters import standalone_service
from rheostat_lab.clusters.standalone_cluster import HOSTS, Cluster

GROUP = "rheostat.clusters"
KINDS = ("standalone", "yarn", "kubernetes")

Report: TypeAlias = Callable[[str], None]
"""Receives a line about what is downloaded or built at the first use."""


class LocalCluster(Protocol):
    """A cluster on this machine that ends with this process, including its files and executors; a
    context manager that starts and stops it.
    """

    @property
    def url(self) -> str:
        """The master URL for sessions, once the cluster runs."""

    @property
    def folder(self) -> Path:
        """The folder of the cluster's files, which is removed with the cluster."""

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of a session in addition to the master, once the cluster runs."""

    def driver_environment(self) -> dict[str, str]:
        """Return the environment variables that a driver needs."""

    def executors(self) -> list[psutil.Process]:
        """Return the processes of the executors, oldest first."""

    def __enter__(self) -> Any:
        """Start it."""

    def __exit__(self, *_: object) -> None:
        """Stop it."""


@dataclass(frozen=True, slots=True)
class Up:
    """A running cluster: its master, and the environment variables that a driver needs."""

    kind: str
    url: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterKind:
    """How a kind of cluster is created, started and ended.

    ``create`` and ``up`` take cores, nodes and a ``Report``. ``create`` returns a cluster of this
    process, ``up`` starts one that outlives it, and ``down`` ends that one and returns its master,
    None if none was running.
    """

    create: Callable[[int, int, Report], LocalCluster]
    up: Callable[[int, int, Report], Up]
    down: Callable[[], str | None]


def local_cluster(
    kind: str, cores: int, nodes: int = 1, tell: Report = lambda _: None
) -> LocalCluster:
    """Return a cluster of a kind with room for ``cores`` executors of one core on ``nodes`` nodes;
    nothing runs before it is started.

    Raises BadInput for a kind that does not exist or is not installed.
    """
    wanted = find_kind(kind)
    check_cores(cores)
    return wanted.create(cores, nodes, tell)


def up(
    kind: str,
    cores: int,
    nodes: int = 1,
    port: int | None = None,
    tell: Report = lambda _: None,
) -> Up:
    """Start a cluster that outlives this process; ``down`` ends it.

    ``port`` is that of a Standalone master. Raises BadInput if one of the kind is running, for a
    kind that does not exist or is not installed, and for options that the kind does not have.
    """
    wanted = find_kind(kind)
    check_cores(cores)
    if wanted is STANDALONE:
        return _standalone_up(cores, nodes, tell, port)
    if port is not None:
        raise BadInput(f"--port is for a Standalone master; a {kind} cluster takes free ports")
    return wanted.up(cores, nodes, tell)


def down(kind: str | None = None) -> list[str]:
    """End the clusters that ``up`` started, of one kind or of all; return their masters."""
    installed = ("standalone", *sorted(entry_points(group=GROUP).names))
    kinds = [find_kind(name) for name in ([kind] if kind else installed)]
    return [master for ended in kinds if (master := ended.down())]


def find_kind(kind: str) -> ClusterKind:
    """Return a kind by its name; raises ``BadInput`` if it does not exist or is not installed."""
    if kind == "standalone":
        return STANDALONE
    for entry in entry_points(group=GROUP, name=kind):
        added: ClusterKind = entry.load()
        return added
    if kind in KINDS:
        raise BadInput(f"the cluster kind {kind} {Installation.here().lab_advice()}")
    raise BadInput(f"the kind of cluster must be one of {', '.join(KINDS)}, but it is {kind!r}")


def check_nodes(cores: int, nodes: int) -> None:
    """Raise BadInput for a number of nodes that cannot share the cores."""
    if not 1 <= nodes <= cores:
        raise BadInput(
            f"a cluster has 1 to as many nodes as it has cores ({cores}), but {nodes} were"
            " requested"
        )


def _standalone_up(cores: int, nodes: int, _: Report, port: int | None = None) -> Up:
    if nodes != 1:
        raise BadInput(f"a Standalone cluster here has 1 worker, but --nodes {nodes} was given")
    return Up("standalone", standalone_service.up(cores=cores, port=port))


STANDALONE = ClusterKind(
    create=lambda cores, nodes, _: Cluster(cores, hosts=HOSTS[:nodes]),
    up=_standalone_up,
    down=standalone_service.down,
)
