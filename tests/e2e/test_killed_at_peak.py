"""A driver is killed at its peak: the next one starts with the same size and keeps it until the
backlog is gone; the output is exact."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest

from rheostat.journal.folder import read
from rheostat.model import Record
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.recovery.killed_job import ROW_MS, KilledJob, Load
from rheostat_lab.services.broker import Broker

pytestmark = pytest.mark.e2e
PER_EXECUTOR, ARRIVING = 1000 / ROW_MS, 20
"""Rows per second that an executor processes, and that arrive per executor at the peak."""

POLICY = f"""
import math
from rheostat.model import Decision, hold


class ByRate:
    def decide(self, observation, memory):
        if observation.input_rows_per_s is None:
            return hold(observation, "no rate"), memory
        wanted = math.ceil(observation.input_rows_per_s / {ARRIVING})
        return Decision(target=max(1, wanted), reason="by the rate alone"), memory
"""
"""A policy that ignores the backlog and would scale in at once when no row arrives."""


def ticks(job: KilledJob, since_s: float) -> list[Record]:
    """Return the decisions since the start of a process."""
    return [
        record
        for record in read(job.folder / "journal")
        if record.t_s >= since_s and record.target is not None
    ]


def killed_and_started_again(
    tmp_path: Path, cluster: Cluster, broker: Broker, executors: int
) -> None:
    topic = f"killed-{uuid4()}"  # The test may be repeated on the same broker.
    broker.create_topic(topic, executors)
    load = Load(broker.bootstrap, topic)
    options = ["--interval", "0.5", "--slo", "5", "--policy", "by_rate:ByRate"]
    job = KilledJob(tmp_path / "job", cluster, broker.bootstrap, topic, executors, options)
    (job.folder / "by_rate.py").write_text(POLICY)
    try:
        # A cold start with a backlog and unknown capacity.
        load.append(int(3 * PER_EXECUTOR * executors))
        first_s = job.start()
        full = lambda: any(record.target == executors for record in ticks(job, first_s))  # noqa: E731
        job.until("all executors are requested", full)
        assert {one.observation.batch_s for one in ticks(job, first_s) if one.observation} == {None}
        job.until("the backlog is gone", lambda: job.lag_rows() == 0)
        load.begin(ARRIVING * (executors - 0.2))
        job.until("the peak", lambda: at_work(job, first_s) == executors)
        job.kill()
        load.end()
        load.append(int(6 * PER_EXECUTOR * executors))

        second_s = job.start()
        small = lambda: any(record.target == 1 for record in ticks(job, second_s))  # noqa: E731
        job.until("the policy decides", small)
        again = ticks(job, second_s)
        job.finish()
    finally:
        load.end()
        job.kill()
    assert again[0].target == executors
    starting = [record for record in again if record.target == executors]
    assert again[: len(starting)] == starting
    first_lag, *_ = [lag for record in starting if (lag := lag_rows(record)) is not None]
    assert first_lag >= 6 * PER_EXECUTOR * executors
    assert lag_rows(again[len(starting)]) == 0
    assert {record.raw.target for record in starting[2:] if record.raw} == {1}
    assert job.output() == Counter(range(load.rows))


def at_work(job: KilledJob, since_s: float) -> int | None:
    """Return the executors at the last decision if they equal its target."""
    last = ticks(job, since_s)[-1]
    executors = last.observation.executors if last.observation else None
    return executors if executors == last.target else None


def lag_rows(record: Record) -> float | None:
    return record.observation.lag_rows if record.observation else None


def test_a_driver_killed_at_three_executors_restarts_with_three_until_caught_up(
    tmp_path: Path, cluster: Cluster, broker: Broker
) -> None:
    killed_and_started_again(tmp_path, cluster, broker, 3)


@pytest.mark.thorough
def test_a_driver_killed_at_six_executors_restarts_with_six_until_caught_up(
    tmp_path: Path, broker: Broker
) -> None:
    with Cluster(cores=6) as cluster:
        killed_and_started_again(tmp_path, cluster, broker, 6)
