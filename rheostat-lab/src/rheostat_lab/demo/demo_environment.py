"""The environment that several runs of the demo share: broker, cluster, JARs and executor start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.metadata import version

from rheostat.clusters.scaling_settings import ALLOCATION
from rheostat.errors import RheostatError
from rheostat.kafka.jars import SourceJars, source_jars
from rheostat.local.executor_options import arrivals
from rheostat.local.fast_local_files import local_files
from rheostat.local.standalone_cluster import end_driver
from rheostat.machine.jdk import find_jdk
from rheostat.machine.process import Child
from rheostat.machine.scratch_folder import ScratchFolder
from rheostat.model import Limits
from rheostat.spark.warming.warm_start import WarmStart
from rheostat_lab.clusters.cluster_kinds import LocalCluster, local_cluster
from rheostat_lab.clusters.session_options import class_path, session_options
from rheostat_lab.demo.demo_options import DYNAMIC_ALLOCATION, Demo
from rheostat_lab.demo.free_memory import require_memory
from rheostat_lab.demo.live_view import View
from rheostat_lab.nexmark.landing import Landing
from rheostat_lab.services.broker import Broker
from rheostat_lab.services.broker_jars import broker_jars
from rheostat_lab.services.delta_jars import DELTA, DELTA_SETTINGS, delta_jars

_BASE_BYTES = 2 * 1024**3
_EXECUTOR_BYTES = 512 * 1024**2
"""Driver, broker, master, worker and producer, and each executor: 4 GiB for the default of four."""

_STARTS = {
    "standalone": "Spark Standalone: a master and a worker",
    "yarn": "YARN: a ResourceManager and a NodeManager",
    "kubernetes": "Kubernetes: a control plane and a node",
}
_DRIVER_MEMORY_MIB = 768
_LINGER_S = 5.0
_LINGER_STATELESS_S = 1.0
"""Minimum seconds for which a leaving executor stays; without a shuffle it has no files to keep."""

LANDING_SETTINGS = {
    "spark.sql.files.minPartitionNum": "16",
    "spark.sql.files.openCostInBytes": "1024",
}
"""As many tasks per batch as with 16 Kafka partitions, because Spark packs small files."""

_DRIVER_FLAGS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"
"""JVM flags for a driver of four minutes on two shared cores: optimization does not pay off."""


class DemoEnvironment:
    """The parts that several runs share; they end with ``stack``.

    Raises BadInput without Java or with too little memory, before anything is started.
    """

    def __init__(self, demo: Demo, view: View, stack: ExitStack) -> None:
        self.demo = demo
        self.view = view
        self.folder = stack.enter_context(ScratchFolder("demo"))
        view.step("looking for a Java and for memory")
        find_jdk()
        # Checked before the JARs are downloaded, so that a download does not end in an error.
        require_memory(_BASE_BYTES + demo.max_executors * _EXECUTOR_BYTES, "the demo")
        view.step(f"fetching the JARs of the source {demo.source} (first time only)")
        self.jars: SourceJars = source_jars()
        self.class_path = class_path()
        if demo.source == "delta":
            self.class_path += delta_jars()
        self.landing = None if demo.source == "kafka" else Landing(demo.source, self.folder)
        self.broker = None if self.landing else self._broker(stack)
        self.address = self.broker.bootstrap if self.broker else f"{demo.source}:{self.folder}"
        self.warm_up_topics = {kind: f"warm-up-{kind}" for kind in demo.known.sources}
        self.create(self.warm_up_topics)
        view.step(f"starting {_STARTS[demo.cluster]}")
        self.cluster: LocalCluster = self._cluster()
        stack.enter_context(self.cluster)
        # Entered after the cluster, so that it runs first: the driver must end before its cluster.
        stack.callback(end_driver)
        os.environ.update(self.cluster.driver_environment())
        self.warm, cold = self._arrivals()
        if cold:
            view.note(cold)

    def _broker(self, stack: ExitStack) -> Broker:
        broker_jars()
        self.view.step("starting a Kafka broker")
        return stack.enter_context(Broker())

    @property
    def kafka(self) -> dict[str, str] | None:
        """The autoscaler's connection to Kafka; None for a load from another source."""
        return {"bootstrap.servers": self.broker.bootstrap} if self.broker else None

    def create(self, topics: Mapping[str, str]) -> None:
        """Create topics, by kind of their events."""
        for kind, topic in topics.items():
            if self.landing:
                self.landing.create(topic, kind)
            elif self.broker:
                self.broker.create_topic(topic, self.demo.partitions)

    def _cluster(self) -> LocalCluster:
        return local_cluster(self.demo.cluster, self.demo.most_slots, tell=self.view.note)

    def _arrivals(self) -> tuple[WarmStart | None, str | None]:
        """Return how executors start: warm on Standalone only."""
        if self.demo.cluster != "standalone":
            return None, f"executors start cold on {self.demo.cluster}: no class archive there"
        return arrivals(f"demo {self.demo.query}", self.cluster.folder, self.class_path)

    def session_options(self, limits: Limits) -> dict[str, str]:
        """Return the static options of a session with these limits."""
        driver_tmp = f'"-Djava.io.tmpdir={self.cluster.folder}"'
        first = self.demo.start
        options = session_options(
            limits,
            None if first is None else min(max(first, limits.min_executors), limits.max_executors),
            jars=self.class_path,
            archive_flags=self.warm.flags if self.warm else (),
            driver_memory_mib=_DRIVER_MEMORY_MIB,
            quiet=True,
            linger_s=_LINGER_S if self.demo.known.stateful else _LINGER_STATELESS_S,
            user={
                "spark.driver.extraJavaOptions": f"{_DRIVER_FLAGS} {driver_tmp}",
                "spark.executor.cores": str(self.demo.cores),
            },
        )
        warm = self.warm.settings if self.warm else {}
        own = _dynamic_allocation(self.demo) if self.demo.policy == DYNAMIC_ALLOCATION else {}
        source = LANDING_SETTINGS if self.landing else {}
        if self.demo.source == "delta":
            source = {**source, **DELTA_SETTINGS}
        mine = {**local_files().settings, **warm, **self.cluster.settings}
        return {**options, **own, **source, **mine}

    def keep_broker(self) -> None:
        """Restart the broker on its data if it has died; raises RheostatError instead if the demo
        does not allow that.
        """
        if self.broker and not self.broker.alive:
            if not self.demo.restarts_broker:
                raise RheostatError("the Kafka broker failed")
            self.view.note("the Kafka broker failed; restarting it with its data")
            self.broker.restart()

    def warm_up_load(self, name: str) -> Child:
        """Start a small constant load on the topics for the warm-up; it ends with the context."""
        words = ["--workload", "constant", "--set", "rate=200", "--seconds", "180"]
        return self.load(self.warm_up_topics, words, f"{name}-warm-up-load")

    def load(self, topics: Mapping[str, str], words: list[str], name: str) -> Child:
        """Start a producer of events into topics, by kind, with equal shares of the load."""
        program = [sys.executable, "-m", "rheostat_lab.nexmark.load"]
        where = [word for topic in as_words(topics) for word in ("--topic", topic)]
        where += ["--bootstrap", self.address]
        return Child([*program, *where, *words], log=self.folder / f"{name}.log")

    def train(self, application: str) -> None:
        """Let an executor of a warmed-up session write the class archive from which later executors
        start (first time only).
        """
        if self.warm and not self.warm.trained:
            self.view.step(
                "training the class archive that makes executors start faster (first time only)"
            )
            # Executor 0 exists from the start and is idle after the warm-up.
            if not self.warm.train(application, "0"):
                self.view.note("executors start cold: the class archive could not be trained")

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the software in use."""
        java = subprocess.run(
            [str(find_jdk().java), "-version"], capture_output=True, text=True
        ).stderr.splitlines()
        return {
            "PySpark": version("pyspark"),
            **self._source_version(),
            "Python": ".".join(map(str, sys.version_info[:3])),
            "Java": java[0] if java else "?",
        }

    def _source_version(self) -> dict[str, str]:
        if self.demo.source == "delta":
            return {"Delta": DELTA}
        return {} if self.landing else {"Kafka source": self.jars.version}


def _dynamic_allocation(demo: Demo) -> dict[str, str]:
    """Return Spark's dynamic allocation with its defaults and the given parameters."""
    defaults = {
        "minExecutors": str(demo.min_executors),
        "schedulerBacklogTimeout": "1s",
        "sustainedSchedulerBacklogTimeout": "1s",
        "executorIdleTimeout": "60s",
    }
    return {
        f"{ALLOCATION}{name}": str(value)
        for name, value in (defaults | {**demo.parameters}).items()
    }


def as_words(topics: Mapping[str, str]) -> list[str]:
    """Return topics in the format of a producer's arguments, KIND=TOPIC."""
    return [f"{kind}={topic}" for kind, topic in topics.items()]
