"""A fleet of receivers, a broker and a query that reads each record once, all local."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from rheostat.local.local_session import start_session
from rheostat.model import Limits
from rheostat.spark.fleet.fleet import Fleet
from rheostat.spark.fleet.receive_into import read_once, receive
from rheostat.spark.internals.internals import internals_of
from rheostat_lab.clusters.session_options import DRIVER_FLAGS, class_path, session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.push.push_verdict import PushVerdict, judge
from rheostat_lab.push.sender import Senders
from rheostat_lab.receivers.dstreams_job import until
from rheostat_lab.services.broker import Broker

OPTIONS = {"spark.sql.shuffle.partitions": "2"}
TRIGGER = "1 second"


class FleetJob:
    """The running job, which ends with ``stack``."""

    def __init__(
        self,
        cluster: Cluster,
        broker: Broker,
        topic: str,
        executors: int,
        cores: int,
        stack: ExitStack,
        driver: Mapping[str, str] | None = None,
    ) -> None:
        os.environ.update(driver or cluster.driver_environment())
        broker.create_topic(topic, 4)
        self._topic, self._broker = topic, broker
        options = session_options(
            Limits(max_executors=executors),
            executors,
            jars=class_path(),
            quiet=True,
            user={
                "spark.executor.cores": str(cores),
                "spark.driver.extraJavaOptions": DRIVER_FLAGS,
            },
        )
        self.spark = start_session(cluster.url, {**options, **OPTIONS}, "fleet")
        stack.callback(self.spark.stop)
        self.executors = internals_of(self.spark).executors
        until("all executors", lambda: self.executors.registered() == executors)
        self.folder = cluster.folder / topic
        self._stack = stack

    def receive(self, protocol: str, limits: tuple[int, int], rows_per_s: float) -> Fleet:
        """Start a fleet, and wait for its first receiver."""
        fleet = receive(
            self.spark,
            kafka=self._broker.bootstrap,
            topic=self._topic,
            protocol=protocol,
            limits=limits,
            rows_per_s=rows_per_s,
        )
        self._stack.callback(fleet.stop)
        until("a receiver", fleet.addresses)
        return fleet

    def read(self) -> Any:
        """Start the query from the topic into a folder."""
        rows = read_once(self.spark, {"bootstrap.servers": self._broker.bootstrap}, self._topic)
        return (
            rows.writeStream.format("parquet")
            .option("path", str(self.folder / "out"))
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .trigger(processingTime=TRIGGER)
            .start()
        )

    def judge(self, senders: Senders, prefix: str = "") -> PushVerdict:
        """Return the verdict on the rows in the folder whose ids begin with ``prefix``."""
        rows = self.spark.read.parquet(str(self.folder / "out")).select("id", "value")
        received = rows.where(rows.id.startswith(prefix)).collect()
        return judge(senders.ids, senders.tried, ((row.id, row.value) for row in received))
