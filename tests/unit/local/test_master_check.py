from __future__ import annotations

from pathlib import Path

import pytest

from rheostat.errors import BadInput
from rheostat.local.master_check import IMAGES, check_master


def test_yarn_needs_a_folder_that_says_where_it_is(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set"):
        check_master("yarn", {}, ())
    with pytest.raises(BadInput, match=r"HADOOP_CONF_DIR=.* holds no yarn-site\.xml"):
        check_master("yarn", {"HADOOP_CONF_DIR": str(tmp_path)}, ())
    (tmp_path / "yarn-site.xml").touch()
    check_master("yarn", {"YARN_CONF_DIR": str(tmp_path)}, ())


def test_kubernetes_needs_an_image() -> None:
    with pytest.raises(BadInput, match=r"spark\.kubernetes\.container\.image is not set"):
        check_master("k8s://https://host:6443", {}, ("spark.app.name",))
    check_master("k8s://https://host:6443", {}, (IMAGES[1],))


@pytest.mark.parametrize("master", [None, "local[2]", "spark://host:7077"])
def test_other_masters_need_nothing(master: str | None) -> None:
    check_master(master, {}, ())
