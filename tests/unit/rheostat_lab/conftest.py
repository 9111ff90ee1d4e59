"""Synthetic runs: a compressed day with batches every second and executors that follow the load
with a small delay; and the same day with slow executor starts in the steep ramp."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from rheostat.model import Decision, Limits, Observation, Record, Rescaling, Slo
from rheostat_lab.loads.day import Day
from rheostat_lab.report.finished_run import (
    CommittedBatch,
    ExecutorLife,
    MachineSample,
    Overhead,
    Ramp,
    Run,
    Verdict,
)
from rheostat_lab.report.miss_causes import standing
from rheostat_lab.report.rows_over_time import rows_at

START_S = 1_700_000_000.0
PER_EXECUTOR = 600.0


@pytest.fixture(scope="session")
def day_run() -> Run:
    return made_up_run()


@pytest.fixture(scope="session")
def late_run() -> Run:
    """Return the day on which the executors of the ramp registered fourteen seconds later, with all
    recordable signals."""
    run = made_up_run()
    lives = [
        replace(life, registered_s=life.registered_s + 14)
        if 130 < life.registered_s - START_S < 165
        else life
        for life in run.executors
    ]
    late = replace(run, executors=lives, journal=Path("out/demo/journal"), machine=idle_machine())
    return replace(late, batches=batches_of(late))


def idle_machine(cpu: float = 0.4) -> list[MachineSample]:
    return [MachineSample(START_S + second, cpu, 0.35, 0.5) for second in range(0, 240, 2)]


def batches_of(run: Run) -> list[CommittedBatch]:
    """Return the batches of a run from its arrivals and executors: each reads the backlog."""
    batches: list[CommittedBatch] = []
    done, now = 0, run.start_s + 1
    while now < run.end_s - 1:
        size = max(1, standing(run, now))
        rows = int(rows_at(run, now)) - done
        took = 0.25 + rows / (PER_EXECUTOR * size)
        if rows:
            spent = {"addBatch": took - 0.2, "walCommit": 0.1, "triggerExecution": took}
            batches.append(CommittedBatch(done, done + rows, now, now + took, rows, spent))
        done, now = done + rows, now + max(1.0, took)
    return batches


def made_up_run(seconds: int = 240) -> Run:
    day = Day(day_s=seconds)
    curve, lives, records, batches = [(START_S, 0.0)], [Life("0", 0.0)], [], []
    committed, target, changed, free_s = 0.0, 1, -99.0, 0.0
    for second in range(seconds):
        curve.append((START_S + second + 1, curve[-1][1] + day.rate_per_s(second + 0.5)))
        running = [life for life in lives if life.registered <= second and life.removed is None]
        lag, rate = curve[-1][1] - committed, day.rate_per_s(second)
        if second >= free_s and lag >= 1:
            took = 0.25 + lag / (PER_EXECUTOR * max(1, len(running)))
            batches.append(
                CommittedBatch(
                    int(committed),
                    int(curve[-1][1]),
                    START_S + second + 1,
                    START_S + second + 1 + took,
                    int(lag),
                )
            )
            committed, free_s = int(curve[-1][1]), second + took
        if second % 3:
            continue
        needed = min(8, max(1, math.ceil(rate * 1.5 / PER_EXECUTOR)))
        wanted = (
            needed
            if (needed > target and second - changed >= 6)
            or (needed < target and second - changed >= 15)
            else target
        )
        records.append(_record(second, len(running), target, wanted, rate, lag))
        changed = second if wanted != target else changed
        if wanted > target:
            lives += [
                Life(str(len(lives) + i), second, second + 2.5) for i in range(wanted - target)
            ]
        for life in [life for life in lives if life.removed is None][wanted:]:
            life.removed = second + 1.5
        target = wanted
    return Run(
        title="A day in four minutes",
        query="q1",
        policy="measured-throughput",
        slo=Slo(latency_s=10.0),
        limits=Limits(),
        trigger_s=1.0,
        interval_s=3.0,
        service_ms=2.0,
        start_s=START_S,
        end_s=START_S + seconds,
        warm_up_s=10.0,
        records=records,
        curve=curve,
        batches=batches,
        executors=[life.known() for life in lives],
        ramp=Ramp(START_S + day.marks["ramp_start_s"], START_S + day.marks["ramp_end_s"]),
        overhead=Overhead({"loop": 1.1, "REST": 0.4, "py4j": 0.2}, float(seconds)),
        verdict=Verdict(
            True,
            batches[-1].end_row,
            batches[-1].end_row,
            0,
            0,
            0,
            "all bids are in the sink, each once",
        ),
        settings={"topic": "bids, 8 partitions"},
        versions={"Rheostat": "0.1.0", "Spark": "4.3.0", "Kafka": "4.1.1"},
    )


class Life:
    def __init__(self, name: str, requested: float, registered: float = 0.0) -> None:
        self.name, self.requested, self.registered = name, requested, registered
        self.removed: float | None = None

    def known(self) -> ExecutorLife:
        gone = None if self.removed is None else START_S + self.removed
        return ExecutorLife(self.name, START_S + self.requested, START_S + self.registered, gone)


def _record(
    second: int, executors: int, target: int, wanted: int, rate: float, lag: float
) -> Record:
    observation = Observation(
        t_s=START_S + second,
        executors=executors,
        target=target,
        input_rows_per_s=rate,
        processed_rows_per_s=executors * PER_EXECUTOR,
        lag_rows=lag,
        lag_s=lag / rate,
        latency_s=lag / rate + 0.7,
        batch_s=0.8,
        trigger_s=1.0,
    )
    reason = (
        f"{'no lag' if wanted <= target else 'lag is rising'}: {rate:.0f} rows/s at"
        f" {PER_EXECUTOR:.0f} rows/s an executor need {wanted}"
    )
    raw = Decision(
        target=wanted,
        reason=reason,
        evidence={"rate": rate, "lag_s": lag / rate, "lag_slope": None, "samples": 12},
    )
    phase = "growing" if wanted > executors else "shrinking" if wanted < executors else "steady"
    return Record(
        t_s=START_S + second,
        observation=observation,
        queries=(),
        raw=raw,
        guards=(),
        target=wanted,
        actions=(),
        rescaling=Rescaling(phase=phase),
    )
