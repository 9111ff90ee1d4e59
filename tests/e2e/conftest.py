"""Fixtures that the end-to-end tests share, because starting a driver's JVM, a cluster or a broker
is expensive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from rheostat.local.local_session import start_session
from rheostat.local.spark_home import driver_environment, find_spark_home
from rheostat.model import Limits
from rheostat.spark.sensing.rest import ExecutorsEndpoint, Rest
from rheostat_lab.clusters.session_options import class_path, session_options
from rheostat_lab.clusters.standalone_cluster import HOSTS, Cluster
from rheostat_lab.services.broker import Broker

if TYPE_CHECKING:
    from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster

CORES = 4
LEFT_DEADLINE_S = 60.0
ANSWER_S = 60.0
"""Timeout for the first answer of a new driver on a busy machine, which exceeds the autoscaler's
5 s."""
QUICK_START = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


@pytest.fixture(scope="session")
def jvm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The JVM of all drivers in this process, one session after the other, and its environment.

    It gets only JVM options, because its other start options become defaults of every session."""
    environment = driver_environment(find_spark_home().jdk, tmp_path_factory.mktemp("driver"))
    options = session_options(Limits(), jars=class_path(), quiet=True, user=QUICK_START)
    conf = SparkConf(loadDefaults=False).setAll(
        [(name, value) for name, value in options.items() if name.startswith("spark.driver.")]
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        SparkContext._ensure_initialized(conf=conf)
    yield environment
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=30)


@pytest.fixture(scope="module")
def driver(jvm: dict[str, str]) -> Iterator[dict[str, str]]:
    """Run a module's sessions in the shared JVM; the module's changes of the environment are
    undone afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in jvm.items():
            patch.setenv(name, value)
        yield jvm


@pytest.fixture(scope="module")
def local_spark(driver: dict[str, str]) -> Iterator[SparkSession]:
    """A session on two cores of the driver."""
    session = start_session(
        "local[2]", {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}, "local"
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[Cluster]:
    """A cluster with two hosts (for Spark) that have room for two executors each."""
    with Cluster(cores=CORES, hosts=HOSTS[:2]) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def cluster(shared_cluster: Cluster) -> Cluster:
    """The shared cluster, without the executors of the previous module."""
    deadline = time.monotonic() + LEFT_DEADLINE_S
    while shared_cluster.executors():
        assert time.monotonic() < deadline, (
            f"executors of the module before are still there after {LEFT_DEADLINE_S:g} s"
        )
        time.sleep(0.1)
    return shared_cluster


@pytest.fixture(scope="module")
def kubernetes() -> Iterator[KubernetesCluster]:
    """A Kubernetes with two nodes and room for five executors; for ``needs_kubernetes`` tests."""
    pytest.importorskip("kubernetes", reason="comes with the extra clusters")
    from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster

    with KubernetesCluster(cores=5, nodes=2) as started:
        yield started


@pytest.fixture(scope="session")
def shared_broker() -> Iterator[Broker]:
    """A broker for all topics."""
    with Broker() as broker:
        yield broker


@pytest.fixture(scope="module")
def broker(shared_broker: Broker) -> Broker:
    """The shared broker, started again if the previous module has killed it."""
    return shared_broker.start()


@pytest.fixture
def failed_tasks(spark: SparkSession) -> Callable[[], int]:
    """Return a function that counts the failed tasks of the module's ``spark``."""
    context = spark.sparkContext
    endpoint = ExecutorsEndpoint(Rest(context.uiWebUrl, context.applicationId, ANSWER_S))

    def count_failed() -> int:
        failed = endpoint.failed_tasks()
        assert failed is not None
        return failed

    return count_failed
