"""A Kubernetes on this machine: a real control plane, and nodes whose containers are processes.

``python -m rheostat_lab.clusters.kubernetes.kubernetes_cluster FOLDER CORES NODES MEMORY_MIB`` runs
one until the process is ended; ``rheostat cluster up`` starts this process in the background.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from rheostat.errors import RheostatError
from rheostat.local.spark_home import SparkHome, driver_environment, find_spark_home
from rheostat.machine.free_ports import LOOPBACK
from rheostat.machine.orderly_end import orderly_end, undisturbed
from rheostat.machine.process import Child
from rheostat.machine.scratch_folder import ScratchFolder, state_folder
from rheostat_lab.clusters.cluster_kinds import ClusterKind, Report, Up, check_nodes
from rheostat_lab.clusters.cluster_logs import trouble
from rheostat_lab.clusters.executor_processes import SMALL, executors_under
from rheostat_lab.clusters.kubernetes import plane_build
from rheostat_lab.clusters.kubernetes.control_plane import HPA_S, NAMESPACE, ControlPlane
from rheostat_lab.clusters.spark_defaults import write_defaults
from rheostat_lab.services import own_folder, service

NAME = "cluster-kubernetes"
CLUSTER_MODE = "cluster-mode.conf"
"""Name of the file next to the defaults for ``spark-submit --properties-file`` in cluster mode."""

START_DEADLINE_S = 180.0
POLL_S = 0.2
MEMORY_MIB = 1024
"""Memory of an executor including Spark's overhead, MiB; our executors request 896."""

IMAGE = "rheostat/processes"
"""The image that pods name; it is never pulled."""


class KubernetesCluster:
    """A control plane and ``nodes`` nodes with room for ``cores`` executors of one core, which end
    with this process, including pods and files.

    ``folder`` contains its files (default: a temporary folder that is removed with it). ``tell``
    receives what is built at the first use; ``hpa_s`` is as in ``ControlPlane``. Raises BadInput
    without PySpark, without Java, or without Go at the first use; RheostatError if a component does
    not start.
    """

    def __init__(
        self,
        cores: int = 8,
        nodes: int = 1,
        memory_mib: int = MEMORY_MIB,
        folder: Path | None = None,
        tell: Callable[[str], None] = lambda _: None,
        hpa_s: float = HPA_S,
    ) -> None:
        check_nodes(cores, nodes)
        self._hpa_s = hpa_s
        self.cores, self.nodes, self.memory_mib = cores, nodes, memory_mib
        self._home = find_spark_home()
        self._given = folder
        self._tell = tell
        self._scratch: ScratchFolder | None = None
        self._plane: ControlPlane | None = None
        self._kubelet: Child | None = None

    @property
    def folder(self) -> Path:
        """The folder of logs and pods' files, which is removed with the cluster."""
        if self._given is not None:
            return self._given
        if self._scratch is None:
            self._scratch = ScratchFolder("kubernetes")
        return self._scratch.path

    @property
    def plane(self) -> ControlPlane:
        """The control plane; raises RheostatError if none runs."""
        if self._plane is None:
            raise RheostatError("this Kubernetes has not been started")
        return self._plane

    @property
    def url(self) -> str:
        """The master URL for sessions: ``k8s://https://127.0.0.1:port``."""
        return f"k8s://{self.plane.url}"

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of a session in addition to the master."""
        return {
            "spark.kubernetes.container.image": IMAGE,
            "spark.kubernetes.namespace": NAMESPACE,
            "spark.kubernetes.authenticate.oauthToken": self.plane.driver_token,
            "spark.kubernetes.authenticate.caCertFile": str(self.plane.certificate),
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            # Kubernetes needs the initial number of executors.
            "spark.dynamicAllocation.enabled": "false",
        }

    @property
    def pod_settings(self) -> Mapping[str, str]:
        """The settings of ``spark-submit --deploy-mode cluster`` in addition to the master: the
        driver in a pod uses the same API server with the rights of a driver. The submitter needs
        more rights, because Spark 4.3 also creates a network policy for the executors.
        """
        submission = "spark.kubernetes.authenticate.submission"
        driver = "spark.kubernetes.authenticate.driver.mounted"
        certificate = str(self.plane.certificate)
        return {
            "spark.kubernetes.container.image": IMAGE,
            "spark.kubernetes.namespace": NAMESPACE,
            f"{submission}.oauthTokenFile": str(self.plane.admin_token_file),
            f"{submission}.caCertFile": certificate,
            f"{driver}.oauthTokenFile": str(self.plane.driver_token_file),
            f"{driver}.caCertFile": certificate,
            # The name kubernetes.default.svc does not resolve here.
            "spark.kubernetes.driver.master": self.plane.url,
            "spark.dynamicAllocation.enabled": "false",
        }

    @property
    def alive(self) -> bool:
        """Whether all components run."""
        return bool(self._plane and self._plane.alive and self._kubelet and self._kubelet.alive)

    def driver_environment(self) -> dict[str, str]:
        """Return the environment variables that a driver needs; its temporary files are removed
        with the cluster.
        """
        return driver_environment(self._home.jdk, self.folder / "driver")

    def executors(self) -> list[psutil.Process]:
        """Return the processes of the executors, oldest first."""
        kubelet = self._kubelet
        return executors_under([kubelet.pid]) if kubelet and kubelet.alive else []

    def lose(self, node: int) -> None:
        """Take a node (from 0) away, like a machine that fails."""
        (self.folder / f"lose-{node}").touch()

    def start(self) -> KubernetesCluster:
        """Start the cluster and wait until its nodes are ready; does nothing if it runs."""
        if self.alive:
            return self
        try:
            programs = plane_build.build(self._tell)
            folder = self.folder
            holds = [self._scratch.lock] if self._scratch else []
            self._plane = ControlPlane(folder, programs, holds, self._hpa_s)
            self._plane.start()
            self._kubelet = Child(
                nodes_command(self._plane.kubeconfig, self._home, self),
                log=folder / "nodes.log",
                environment=self._home.environment(folder),
                folder=folder,
                holds=holds,
            )
            _wait(folder / "nodes-ready", folder / "nodes.log", lambda: self.alive)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the cluster with all its pods, and remove its files if they are temporary."""
        if self._kubelet:
            self._kubelet.stop()
        if self._plane:
            self._plane.stop()
        self._kubelet = self._plane = None
        if self._scratch:
            self._scratch.remove()
            self._scratch = None

    def __enter__(self) -> KubernetesCluster:
        return self.start()

    def __exit__(self, *_: object) -> None:
        with undisturbed():
            self.stop()


def up(
    cores: int = 8,
    nodes: int = 1,
    memory_mib: int = MEMORY_MIB,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[str, Path]:
    """Start a Kubernetes that outlives this process; return its master and its configuration
    folder. ``down`` ends it.

    The folder is the value for ``SPARK_CONF_DIR``; its ``kubeconfig`` is for ``kubectl``. Raises
    like ``KubernetesCluster``, and BadInput if one is running.
    """
    check_nodes(cores, nodes)
    service.require_none(NAME)
    find_spark_home()
    plane_build.build(tell)
    folder = (state_folder() / NAME).resolve()
    own_folder.remove_marked(folder)
    own_folder.claim(folder, "the cluster's folder")
    words = [str(folder), str(cores), str(nodes), str(memory_mib)]
    log = folder / "cluster.log"
    try:
        service.start(
            NAME,
            [sys.executable, "-m", "rheostat_lab.clusters.kubernetes.kubernetes_cluster", *words],
            url="k8s",
            folder=folder,
            log=log,
        )
        _wait(folder / "conf" / "master", log, lambda: service.find(NAME) is not None)
    except BaseException:
        down()
        raise
    return (folder / "conf" / "master").read_text().strip(), folder / "conf"


def down() -> str | None:
    """End the Kubernetes that ``up`` started with its pods, remove its files, and return its
    master; None if none was running.
    """
    folder = state_folder() / NAME
    try:
        master = (folder / "conf" / "master").read_text().strip()
    except OSError:
        master = "Kubernetes"
    ended = service.end(NAME)
    own_folder.remove_marked(folder)
    return master if ended else None


def nodes_command(kubeconfig: Path, home: SparkHome, size: KubernetesCluster) -> list[str]:
    """Return the command that runs the nodes."""
    node_cores = -(-size.cores // size.nodes)
    sizes = [str(size.nodes), str(node_cores), str(node_cores * size.memory_mib)]
    where = [str(kubeconfig), str(size.folder), str(home.folder), str(home.jdk.java)]
    return [sys.executable, "-m", "rheostat_lab.clusters.kubernetes.node", *where, *sizes]


def serve(words: Sequence[str]) -> None:
    """Run a Kubernetes in a folder until this process is ended."""
    folder = Path(words[0])
    cores, nodes, memory_mib = map(int, words[1:])
    with orderly_end(), KubernetesCluster(cores, nodes, memory_mib, folder) as cluster:
        conf = folder / "conf"
        common = {"spark.master": cluster.url, **SMALL}
        write_defaults(conf, {**common, **cluster.settings})
        write_defaults(conf, {**common, **cluster.pod_settings}, CLUSTER_MODE)
        (conf / "kubeconfig").write_text(cluster.plane.kubeconfig.read_text())
        partial = conf / "master.partial"
        partial.write_text(cluster.url + "\n")
        partial.replace(conf / "master")
        while cluster.alive:
            time.sleep(1)


def _wait(ready: Path, log: Path, alive: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and alive():
        if ready.exists():
            return
        time.sleep(POLL_S)
    how = f"is not ready after {START_DEADLINE_S:.0f} s" if alive() else "ended at its start"
    raise RheostatError(f"Kubernetes {how}: {trouble(log)}")


def _create(cores: int, nodes: int, report: Report) -> KubernetesCluster:
    return KubernetesCluster(cores, nodes, tell=report)


def _up(cores: int, nodes: int, report: Report) -> Up:
    master, conf = up(cores, nodes, tell=report)
    named = {"SPARK_CONF_DIR": str(conf), "KUBECONFIG": str(conf / "kubeconfig")}
    return Up("kubernetes", master, named)


KIND = ClusterKind(create=_create, up=_up, down=down)
"""The entry point ``kubernetes`` of the group ``rheostat.clusters``."""

if __name__ == "__main__":
    serve(sys.argv[1:])
