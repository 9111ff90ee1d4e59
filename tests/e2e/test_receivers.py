"""Receivers on real executors: a StreamingContext's are moved; a fleet's accept rows over a socket
and over HTTP, and lose nothing when an executor is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import rheostat
from rheostat.errors import BadInput
from rheostat.journal.explanation import explain
from rheostat.journal.reading import records
from rheostat.spark.internals.internals import internals_of
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.push.sender import Senders
from rheostat_lab.receivers.dstreams_job import DStreamsJob, Shape, until
from rheostat_lab.receivers.fleet_job import FleetJob
from rheostat_lab.receivers.line_feed import LineFeed
from rheostat_lab.rescale.rescale_ways import LOOP, Scripted
from rheostat_lab.services.broker import Broker

pytestmark = pytest.mark.e2e
SHAPE = Shape(executors=2, most=2, cores=2, receivers=2, batch_s=1.0)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def job_on(cluster: Cluster, driver: dict[str, str], shape: Shape, stack: ExitStack) -> DStreamsJob:
    feeds = [stack.enter_context(LineFeed(lambda _: 20.0)) for _ in range(shape.receivers)]
    return DStreamsJob(cluster, shape, feeds, stack, driver=driver).start()


def test_receivers_of_a_streaming_context_are_moved(
    cluster: Cluster, driver: dict[str, str], stack: ExitStack, tmp_path: Path
) -> None:
    job = job_on(cluster, driver, SHAPE, stack)
    policy = Scripted(2)
    handle = rheostat.attach(
        job.streaming, policy=policy, limits=(1, 2), loop=LOOP, journal=tmp_path
    )
    stack.callback(handle.stop)
    until("a batch is seen", lambda: handle.last and _batch_s(handle) is not None)
    assert handle.last is not None
    assert handle.last.observation is not None
    assert handle.last.observation.trigger_s == 1.0
    policy.executors = 1
    expected_detail = "2 receivers need 3 cores: 2 executors of 2, not 1"
    until(expected_detail, lambda: handle.last and handle.last.rescaling.detail == expected_detail)
    handle.stop()
    assert any(
        expected_detail in line for _, record in records(tmp_path) for line in explain(record)
    )
    there = job.places()
    assert {*there.values()} == {"0", "1"}
    hosts = internals_of(job.streaming).executors.hosts()
    assert job.dstreams.move(0, str(there[1]), hosts[str(there[1])])
    until("receiver 0 has moved", lambda: job.places() == {0: there[1], 1: there[1]})
    came = len(job.came)
    until("lines of receiver 0 come", lambda: len(job.came) > came + 20)
    assert max(job.came.values()) == 1
    job.streaming.stop(stopSparkContext=False, stopGraceFully=False)
    with pytest.raises(BadInput, match="this StreamingContext has been stopped"):
        rheostat.attach(job.streaming)


def _batch_s(handle: rheostat.Handle) -> float | None:
    observation = handle.last.observation if handle.last else None
    return observation.batch_s if observation else None


def fleet_of(
    protocol: str, cluster: Cluster, broker: Broker, driver: dict[str, str], stack: ExitStack
) -> None:
    """Push rows, kill the executor of a receiver, and compare the output with the senders' log; the
    policy always wants one executor, which has no core for both receivers.
    """
    topic = f"push-{protocol}"
    job = FleetJob(cluster, broker, topic, 2, 2, stack, driver)
    fleet = job.receive(protocol, (2, 2), 0.0)
    until("both receivers", lambda: len(fleet.addresses()) == 2)
    query = job.read()
    handle = rheostat.attach(job.spark, policy=Scripted(1), limits=(1, 2), loop=LOOP)
    stack.callback(handle.stop)
    with Senders(fleet.address, protocol, 4, lambda _: 200.0) as senders:
        time.sleep(3)
        os.kill(cluster.executors()[0].pid, signal.SIGKILL)
        until("the killed receiver is replaced", lambda: fleet.state.receivers == 2)
        time.sleep(3)
        assert senders.finish()
    assert handle.last is not None
    assert handle.last.target == 2
    # The first guard that keeps two executors is the initial size while the application starts.
    assert [change.reason for change in handle.last.guards] in (
        ["set by the script; not below the initial size of 2 until the backlog is gone"],
        ["set by the script; 2 receivers need 3 cores"],
    )
    handle.stop()
    fleet.stop()
    query.processAllAvailable()
    verdict = job.judge(senders)
    query.stop()
    assert verdict.exact, verdict
    assert len(senders.ids) == sum(senders.due) > 500


def test_acknowledged_records_over_http_survive_a_killed_executor(
    cluster: Cluster, broker: Broker, driver: dict[str, str], stack: ExitStack
) -> None:
    fleet_of("http", cluster, broker, driver, stack)


@pytest.mark.thorough
def test_acknowledged_records_over_a_socket_survive_a_killed_executor(
    cluster: Cluster, broker: Broker, driver: dict[str, str], stack: ExitStack
) -> None:
    fleet_of("socket", cluster, broker, driver, stack)


@pytest.mark.thorough
def test_the_documented_example_works_on_real_executors(
    jvm: dict[str, str], stack: ExitStack, tmp_path: Path
) -> None:
    shape = Shape(executors=5, most=5, cores=4, receivers=5)
    cluster = stack.enter_context(Cluster(cores=20))
    job = job_on(cluster, jvm, shape, stack)
    hosts = internals_of(job.streaming).executors.hosts
    policy = Scripted(5)
    handle = rheostat.attach(
        job.streaming, policy=policy, limits=(1, 5), loop=LOOP, journal=tmp_path
    )
    stack.callback(handle.stop)

    def reach(counts: list[int]) -> None:
        until(str(counts), lambda: job.counts(hosts()) == counts, 300.0)

    reach([1, 1, 1, 1, 1])
    policy.executors = 1
    reach([3, 2])
    policy.executors = 3
    reach([3, 2, 0])
    reach([2, 2, 1])
