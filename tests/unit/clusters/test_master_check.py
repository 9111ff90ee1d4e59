from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.clusters.kubernetes import IMAGES
from rheostat.clusters.registry import cluster_manager
from rheostat.errors import BadInput


def test_yarn_requires_its_configuration_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set"):
        cluster_manager("yarn").check("yarn", {}, ())
    with pytest.raises(BadInput, match=r"HADOOP_CONF_DIR=.* holds no yarn-site\.xml"):
        cluster_manager("yarn").check("yarn", {"HADOOP_CONF_DIR": str(tmp_path)}, ())
    (tmp_path / "yarn-site.xml").touch()
    cluster_manager("yarn").check("yarn", {"YARN_CONF_DIR": str(tmp_path)}, ())


def test_kubernetes_requires_an_image() -> None:
    with pytest.raises(BadInput, match=r"spark\.kubernetes\.container\.image is not set"):
        cluster_manager("k8s://https://host:6443").check(
            "k8s://https://host:6443", {}, ("spark.app.name",)
        )
    cluster_manager("k8s://https://host:6443").check("k8s://https://host:6443", {}, (IMAGES[1],))


@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077"])
def test_other_masters_require_nothing(master: str) -> None:
    cluster_manager(master).check(master, {}, ())
