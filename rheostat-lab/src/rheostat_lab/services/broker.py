"""A real local Kafka broker: one node, KRaft, loopback only."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from rheostat.errors import BadInput, RheostatError
from rheostat.kafka.client import settings
from rheostat.machine.free_ports import LOOPBACK, free_port
from rheostat.machine.jdk import find_jdk
from rheostat.machine.orderly_end import undisturbed
from rheostat.machine.process import Child
from rheostat.machine.scratch_folder import ScratchFolder, state_folder
from rheostat_lab.services import service
from rheostat_lab.services.broker_jars import broker_jars
from rheostat_lab.services.claimed_ports import claim_port
from rheostat_lab.services.own_folder import claim

NAME = "kafka"
USUAL_PORT = 9092
LOG = "broker.log"
START_DEADLINE_S = 60.0
# Each partition is a folder with open files, and this broker's JVM has 384 MiB.
MOST_PARTITIONS = 1000
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
# A small, short-lived JVM on a busy machine: one garbage collection thread, only the quick
# compiler.
JVM_OPTIONS = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")

_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller_port}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller_port}
advertised.listeners=PLAINTEXT://{host}:{port}
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
num.partitions=8
offsets.topic.num.partitions=4
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
"""
# The session: after a kill -9, the controller accepts the broker only when the old session has
# expired (9 s by default).


class Broker:
    """A Kafka broker that ends with this process; its data remain in ``folder``, or are in a
    temporary folder that is removed with it.

    ``port`` is the port for clients (default: a free one). The same folder can be started again,
    even after a ``kill -9``, with the same topics and records. Raises BadInput for a port that is
    taken, a missing Java, and no network at the first use; RheostatError if the broker does not
    respond within ``START_DEADLINE_S``.
    """

    def __init__(self, folder: Path | None = None, port: int | None = None) -> None:
        # Fixed for the lifetime of this object, because a restart must use the same address.
        self.port = free_port() if port is None else claim_port(port, "Kafka")
        self._scratch = ScratchFolder("kafka") if folder is None else None
        self.folder = self._scratch.path / NAME if self._scratch else (folder or Path()).resolve()
        self._child: Child | None = None

    @property
    def bootstrap(self) -> str:
        """The address for clients: ``127.0.0.1:port``."""
        return f"{LOOPBACK}:{self.port}"

    @property
    def alive(self) -> bool:
        """Whether the broker's process runs."""
        return self._child is not None and self._child.alive

    @property
    def pid(self) -> int | None:
        """The process id of the broker's Java; None if it does not run."""
        return self._child.pid if self._child and self.alive else None

    def start(self) -> Broker:
        """Start the broker and wait until it responds; does nothing if it runs."""
        if self.alive:
            return self
        try:
            self._child = Child(
                prepare(self.folder, self.port),
                log=self.folder / LOG,
                folder=self.folder,
                holds=[self._scratch.lock] if self._scratch else (),
            )
            _wait(self.bootstrap, lambda: self.alive, self.folder / LOG)
        # Including interrupts, so that no orphaned broker remains.
        except BaseException:
            self.stop()
            raise
        return self

    def restart(self) -> Broker:
        """Stop the broker if it runs and start it with the same data and port."""
        self._end()
        return self.start()

    def stop(self) -> None:
        """End the broker, and remove its data if the folder is temporary."""
        self._end()
        if self._scratch:
            self._scratch.remove()

    def _end(self) -> None:
        if self._child:
            self._child.stop()

    def create_topic(self, name: str, partitions: int) -> None:
        """Create a topic with this number of partitions; raises BadInput if it exists or the broker
        rejects it.
        """
        create_topic(self.bootstrap, name, partitions)

    def __enter__(self) -> Broker:
        return self.start()

    def __exit__(self, *_: object) -> None:
        # A second Ctrl-C must not leave the broker's JVM running.
        with undisturbed():
            self.stop()


def up(
    port: int | None = None, folder: Path | None = None, topics: Mapping[str, int] | None = None
) -> str:
    """Start a broker that outlives this process and return its bootstrap address; ``down`` ends it.

    ``port`` defaults to 9092, or to a free port if that is taken; ``folder`` to one in the state
    folder; ``topics`` are created with their numbers of partitions. The data are kept for the next
    ``up`` with the same folder. Raises like ``Broker``, and BadInput if one is running and for a
    topic that cannot be created; the broker is then ended.
    """
    # Checked before anything starts, so that an invalid topic does not cost the start of a broker.
    for name, partitions in (topics or {}).items():
        check_topic(name, partitions)
    service.require_none(NAME)
    folder = (folder or state_folder() / NAME).resolve()
    port = _usual_or_free() if port is None else claim_port(port, "Kafka")
    bootstrap = f"{LOOPBACK}:{port}"
    service.start(NAME, prepare(folder, port), url=bootstrap, folder=folder, log=folder / LOG)
    try:
        _wait(bootstrap, lambda: service.find(NAME) is not None, folder / LOG)
        for name, partitions in (topics or {}).items():
            create_topic(bootstrap, name, partitions)
    except BaseException:
        service.end(NAME)
        raise
    return bootstrap


def down() -> str | None:
    """End the broker that ``up`` started, keep its data, and return its address, if any."""
    ended = service.end(NAME)
    return ended.url if ended else None


def create_topic(bootstrap: str, name: str, partitions: int) -> None:
    """Create a topic with one replica; raises BadInput if the broker rejects it (it exists, or its
    name is invalid).
    """
    check_topic(name, partitions)
    admin = AdminClient(settings({"bootstrap.servers": bootstrap}))
    try:
        admin.create_topics([NewTopic(name, partitions, 1)], operation_timeout=20)[name].result(
            timeout=30
        )
    except KafkaException as error:
        raise BadInput(
            f"the topic {name!r} with {partitions} partitions cannot be created:"
            f" {error.args[0].str()}"
        ) from None


def check_topic(name: str, partitions: int) -> None:
    """Raise BadInput for a name that Kafka does not allow, or an invalid number of partitions."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        raise BadInput(
            f"a topic's name must have 1 to 249 letters, digits, dots, dashes or underscores,"
            f" but it is {name!r}"
        )
    if not 1 <= partitions <= MOST_PARTITIONS:
        raise BadInput(
            f"a topic has 1 to {MOST_PARTITIONS} partitions here, but {partitions} were requested"
        )


def prepare(folder: Path, port: int) -> list[str]:
    """Write the broker's configuration, format its storage if it is new, and return the command
    that runs it in that folder.
    """
    java = [
        str(find_jdk().java),
        *JVM_OPTIONS,
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-cp",
        str(broker_jars()[0].parent / "*"),
    ]
    own = claim(folder, "--dir")
    data = own.ours("data")
    data.mkdir(exist_ok=True)
    properties = own.ours("server.properties")
    own.ours(LOG)
    # The controller's port may change between two starts, because it is only in this file and not
    # in the formatted storage.
    properties.write_text(
        _PROPERTIES.format(host=LOOPBACK, port=port, controller_port=free_port(), data=data)
    )
    # Formatted once, because the storage rejects another cluster id.
    if not (data / "meta.properties").exists():
        _format(java, properties)
    # Kafka's native libraries are unpacked there and are removed with the folder.
    scratch = "-Djava.io.tmpdir=."  # relative to the folder that it runs in
    return [java[0], scratch, *java[1:], "kafka.Kafka", str(properties)]


def _format(java: list[str], properties: Path) -> None:
    cluster = base64.urlsafe_b64encode(b"rheostat" + os.urandom(8)).decode().rstrip("=")
    command = [
        *java,
        "kafka.tools.StorageTool",
        "format",
        "--cluster-id",
        cluster,
        "--config",
        str(properties),
    ]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=START_DEADLINE_S
    )
    if done.returncode != 0:
        raise RheostatError(
            f"Kafka's storage in {properties.parent} could not be formatted:"
            f" {(done.stderr or done.stdout).strip()[-200:]}"
        )


def _usual_or_free() -> int:
    try:
        return claim_port(USUAL_PORT, "Kafka")
    except BadInput:
        return free_port()


def _wait(bootstrap: str, alive: Callable[[], bool], log: Path) -> None:
    """Return as soon as the broker responds and has registered; raises RheostatError if it ends or
    the deadline has passed.
    """
    admin = AdminClient(
        settings(
            {
                "bootstrap.servers": bootstrap,
                "reconnect.backoff.ms": "50",
                "reconnect.backoff.max.ms": "200",
            }
        )
    )
    deadline = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < deadline and alive():
        try:
            # A response without brokers comes from a controller that has not accepted this one yet.
            if admin.list_topics(timeout=1).brokers:
                return
        except KafkaException:
            continue
    how = f"did not answer within {START_DEADLINE_S:.0f} s" if alive() else "ended at its start"
    raise RheostatError(f"the Kafka broker {how}: {_last_line(log)} (see {log})")


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "its log is empty"
