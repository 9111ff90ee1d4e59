"""The entry points of a fleet: ``rheostat.receive``, and ``read_once`` for what it has written."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from rheostat.capacity.receiver_cores import SPARE_CORES, cores_needed
from rheostat.errors import BadInput
from rheostat.machine.missing_module import advice
from rheostat.protocols.receivers.fleet_size import FleetLimits
from rheostat.spark.fleet.directory import Directory
from rheostat.spark.fleet.fleet import JOB, Fleet
from rheostat.spark.fleet.receiving import SOURCES, ReceiverTask
from rheostat.spark.internals.gateway import has_ended
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.sensing.capabilities import (
    application_id,
    is_connect,
    is_local,
    slots_per_executor,
)
from rheostat.spark.sensing.sensor import publish

LOOPBACK = "127.0.0.1"
_SERVERS = "bootstrap.servers"


def receive(
    spark: Any,
    *,
    kafka: Mapping[str, Any] | str,
    topic: str,
    protocol: str = "http",
    limits: FleetLimits | tuple[int, int] = (1, 4),
    rows_per_s: float = 0.0,
    bind: str = LOOPBACK,
) -> Fleet:
    """Start receivers in a session that write pushed records into a Kafka topic.

    ``protocol`` is ``http`` or ``socket``; ``limits`` are the minimum and maximum number of
    receivers, each of which occupies a core; ``rows_per_s`` limits the rate of one receiver, 0
    means no limit. They listen on loopback unless ``bind`` names another address, such as
    ``0.0.0.0``: senders then use the host names of Spark's driver and executors. A record is
    acknowledged once the broker has it; ``read_once`` reads each id once. Executors need Rheostat
    with the extra ``kafka``.

    Raises BadInput for invalid arguments, before anything is started.
    """
    check(spark, protocol, rows_per_s, topic)
    wanted = limits if isinstance(limits, FleetLimits) else _limits(limits)
    servers = {_SERVERS: kafka} if isinstance(kafka, str) else dict(kafka)
    if not servers.get(_SERVERS):
        raise BadInput(f"kafka= needs '{_SERVERS}', but it has {', '.join(servers) or 'nothing'}")
    internals, cores = internals_of(spark), slots_per_executor(spark)
    there = internals.executors.registered()
    if there * cores < wanted.least + SPARE_CORES:
        raise BadInput(
            f"{cores_needed(wanted.least)}, but {there} executors of {cores} have {there * cores}"
        )
    directory = Directory(bind, time.time)
    local = bind == LOOPBACK
    driver = LOOPBACK if local else str(spark.sparkContext.getConf().get("spark.driver.host"))
    task = ReceiverTask(
        number=0,
        directory=(driver, directory.port),
        protocol=protocol,
        bind=bind,
        host=LOOPBACK if local else "",
        topic=topic,
        kafka=servers,
        rows_per_s=rows_per_s,
    )

    def runs(executor: str, place: str, work: Callable[[], None]) -> None:
        internals.tasks.run_python_on(executor, place, work, "rheostat-fleet", JOB)

    ended = internals.gateway.stopped
    fleet = Fleet(internals.executors, runs, task, wanted, cores, directory, ended).start()
    publish(application_id(spark), lambda: fleet.state.demanded if fleet.serves else None)
    return fleet


def check(spark: Any, protocol: str, rows_per_s: float, topic: str) -> None:
    """Raise BadInput for arguments that cannot start a fleet."""
    if "streams" not in dir(spark) or isinstance(spark, type):
        raise BadInput(f"a SparkSession is needed, but it is {spark!r:.80}")
    if is_connect(spark):
        raise BadInput("a fleet of receivers needs a classic session, not Spark Connect")
    if has_ended(spark):
        raise BadInput("this SparkSession has been stopped; pass one that runs")
    if is_local(spark):
        raise BadInput(
            f"master {spark.sparkContext.master} has no executors for receivers; use a cluster"
        )
    if protocol not in SOURCES:
        raise BadInput(f"protocol must be {' or '.join(SOURCES)}, but it is {protocol!r}")
    if not isinstance(topic, str) or not topic:
        raise BadInput(f"topic must be a name, but it is {topic!r}")
    if not isinstance(rows_per_s, int | float) or not rows_per_s >= 0:
        raise BadInput(f"rows_per_s must be at least 0, but it is {rows_per_s!r}")
    if find_spec("confluent_kafka") is None:
        raise BadInput(advice("confluent_kafka"))


def _limits(given: Any) -> FleetLimits:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise BadInput(
            f"limits= must be the fewest and the most receivers, as (1, 4), but it is {given!r}"
        )
    return FleetLimits(least=given[0], most=given[1])


HORIZON = "10 minutes"


def read_once(spark: Any, kafka: Mapping[str, Any], topic: str, horizon: str = HORIZON) -> Any:
    """Return a streaming DataFrame ``id``, ``value``, ``taken_at`` of a fleet's topic, each id
    once.

    A repeated record is dropped if it arrives within ``horizon`` of the first one. The horizon is a
    watermark: records that are read later than that behind the newest one are dropped as well, so
    it must exceed the lag of one partition behind another. Raises BadInput if ``spark`` is not a
    session.
    """
    if "readStream" not in dir(spark) and not is_connect(spark):
        raise BadInput(f"a SparkSession is needed, but it is {spark!r:.80}")
    own = {f"kafka.{name}": value for name, value in kafka.items()}  # the prefix is the source's
    options = {"subscribe": topic, "startingOffsets": "earliest", **own}
    rows = spark.readStream.format("kafka").options(**options).load()
    named = rows.selectExpr(
        "CAST(key AS STRING) AS id", "CAST(value AS STRING) AS value", "timestamp AS taken_at"
    )
    return named.withWatermark("taken_at", horizon).dropDuplicatesWithinWatermark(["id"])
