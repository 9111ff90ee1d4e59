"""Every master has one cluster manager; an unknown one gets the defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.clusters import scaling_settings as scaling
from rheostat.clusters.cluster_manager import ClusterManager
from rheostat.clusters.kubernetes import Kubernetes
from rheostat.clusters.registry import MANAGERS, cluster_manager
from rheostat.clusters.standalone import Standalone
from rheostat.clusters.yarn import Yarn

MASTERS = {
    "spark://host:7077": Standalone,
    "local-cluster[2,1,512]": Standalone,
    "yarn": Yarn,
    "k8s://https://host:6443": Kubernetes,
    "local[2]": ClusterManager,
    "mesos://host:5050": ClusterManager,
}


@pytest.mark.parametrize(("master", "kind"), MASTERS.items())
def test_every_master_has_one_cluster_manager(master: str, kind: type[ClusterManager]) -> None:
    assert type(cluster_manager(master)) is kind
    assert sum(master.startswith(manager.masters) for manager in MANAGERS) <= 1


def test_only_standalone_limits_cores_and_tolerates_any_number_of_failures() -> None:
    for manager in (*MANAGERS, ClusterManager()):
        wanted = manager.wanted(executors=3, cores=2)
        assert manager.starts_with_all == (scaling.CORES_MAX in wanted)
        assert manager.starts_with_all != (scaling.FAILURES in wanted)
    assert Standalone().wanted(executors=3, cores=2)[scaling.CORES_MAX].value == "6"


def test_a_containerized_driver_keeps_only_folders_on_a_volume(
    tmp_path: Path,
) -> None:
    assert Yarn().deletes(tmp_path)
    assert not Standalone().deletes(tmp_path)
    assert Kubernetes().deletes(Path("/"))
    assert not Kubernetes().deletes(Path("/proc"))
