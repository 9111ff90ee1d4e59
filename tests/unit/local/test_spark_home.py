"""The Spark of the installed PySpark, and how its daemons are started."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from rheostat.errors import BadInput, RheostatError
from rheostat.local import spark_home
from rheostat.local import standalone_cluster as standalone
from rheostat.local.spark_home import SparkHome, driver_environment, find_spark_home
from rheostat.local.standalone_cluster import check_cores
from rheostat.machine.free_ports import LOOPBACK
from rheostat.machine.jdk import Jdk
from rheostat_lab.clusters.standalone_cluster import HOSTS

JDK = Jdk(Path("/jdk"), 17, True)
HOME = SparkHome(Path("/spark"), "4.0.0", "2.13", JDK)


def install_pyspark(folder: Path, monkeypatch: pytest.MonkeyPatch, *jars: str) -> None:
    """Install a PySpark with these JARs."""
    (folder / "jars").mkdir(parents=True)
    for jar in jars:
        (folder / "jars" / jar).touch()
    spec = ModuleSpec("pyspark", None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    monkeypatch.setattr("importlib.util.find_spec", lambda _: spec)
    monkeypatch.setattr(spark_home, "find_jdk", lambda: JDK)


def test_spark_and_scala_versions_are_read_from_a_jar_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_pyspark(tmp_path, monkeypatch, "spark-core_2.13-4.1.0.jar", "spark-sql_2.13-4.1.0.jar")
    spark = find_spark_home()
    assert (spark.folder, spark.version, spark.scala) == (tmp_path.resolve(), "4.1.0", "2.13")


def test_a_client_without_jars_is_rejected_with_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_pyspark(tmp_path, monkeypatch, "spark-connect-shims.jar")
    with pytest.raises(BadInput, match=r"pip install pyspark \(not pyspark-client\)"):
        find_spark_home()


def test_a_missing_pyspark_is_rejected_with_the_same_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(BadInput, match="a full PySpark is needed"):
        find_spark_home()


def test_master_and_worker_bind_to_loopback_and_open_no_rest_port() -> None:
    master = standalone.master_command(HOME, 7077, 8080)
    worker = standalone.worker_command(HOME, 7077, 4, 1024, Path("/files"))
    for command in (master, worker):
        assert command[0] == str(JDK.java)
        assert command[command.index("--host") + 1] == LOOPBACK
        assert "-Dspark.master.rest.enabled=false" in command
    assert master[master.index("--port") + 1] == "7077"
    assert worker[-1] == f"spark://{LOOPBACK}:7077"
    assert worker[worker.index("--memory") + 1] == "4096m"
    assert worker[worker.index("--work-dir") + 1] == f"/files/work-{LOOPBACK}"


def test_workers_on_several_hosts_use_separate_folders() -> None:
    folders = {
        command[command.index("--work-dir") + 1]
        for host in HOSTS
        for command in [standalone.worker_command(HOME, 7077, 1, 1024, Path("/files"), host)]
    }
    assert len(folders) == len(HOSTS)


def test_the_users_python_is_kept_and_driver_files_share_one_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3.12")
    given = driver_environment(JDK, Path("/files/driver"))
    assert given["PYSPARK_PYTHON"] == "/usr/bin/python3.12"
    assert given["SPARK_LOCAL_DIRS"] == "/files/driver"
    assert given["SPARK_LOCAL_IP"] == LOOPBACK


@pytest.mark.parametrize(
    ("log_text", "cause"),
    [
        ("starting\njava.net.BindException: in use\nbye\n", "java.net.BindException: in use"),
        ("one\ntwo\n", "two"),
        ("\n", "no output"),
    ],
)
def test_an_ended_daemon_is_reported_with_the_most_relevant_log_line(
    log_text: str, cause: str, tmp_path: Path
) -> None:
    log = tmp_path / "master.log"
    log.write_text(log_text)
    with pytest.raises(RheostatError, match=f"the Spark master ended at its start: {cause}"):
        standalone.wait_for("master", lambda: False, lambda: False, log)


def test_waiting_ends_as_soon_as_the_daemon_is_ready(tmp_path: Path) -> None:
    standalone.wait_for("master", lambda: True, lambda: True, tmp_path / "none.log")


@pytest.mark.parametrize(("cores", "message"), [(0, "at least 1 core"), (10_001, "at most 10000")])
def test_an_invalid_number_of_worker_cores_is_rejected(cores: int, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        check_cores(cores)
