from __future__ import annotations

from pathlib import Path

from rheostat.local.user_settings import settings_of_user
from rheostat_lab.clusters.spark_defaults import write_defaults


def test_written_cluster_defaults_are_read_as_spark_reads_them(tmp_path: Path) -> None:
    write_defaults(tmp_path, {"spark.master": "yarn", "spark.driver.host": "127.0.0.1"})
    given = settings_of_user({"SPARK_CONF_DIR": str(tmp_path)})
    assert {name: setting.value for name, setting in given.items()} == {
        "spark.master": "yarn",
        "spark.driver.host": "127.0.0.1",
    }
