"""A Flink job in reactive mode as a plant: every change of TaskManagers restarts the job."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rheostat.model import Capabilities, Decision, Observation, Rescaling
from rheostat.sim.plant import Ledger, Plant, Steps
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.flink.flink_job_metrics import Metrics
from rheostat_lab.flink.flink_tasks import Tasks

_SAMPLE_S = 15
_STEP_S = 30
_FORGETS_S = 120.0
"""Time constant of a wandering factor in seconds."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The job as the thesis recorded it, every 15 s."""

    t_s: float
    executors: int
    latency_s: float
    lag_rows: float
    input_rows_per_s: float
    observation: Observation


class FlinkPlant(Plant):
    """Implements ``Plant``: rows arrive as given, a change of the target starts or stops
    TaskManagers, and each change restarts the job.

    ``arrivals`` are the rows of each second from 0 on, and their number limits the simulated time.
    The same generator gives the same run. The noise of the rate and that of the starts have
    separate random streams, so that two policies encounter the same noise.
    """

    def __init__(
        self, job: FlinkJob, arrivals: Sequence[float], executors: int, seed: np.random.SeedSequence
    ) -> None:
        # Separate streams, so that a policy with more restarts encounters the same rates.
        rates, starts, waits, shares, busy, run = (
            np.random.default_rng(child) for child in seed.spawn(6)
        )
        job = job.of_run(*run.standard_normal(2).tolist())
        self.job = job
        """The job with the noise of this run."""
        self.tasks = Tasks(job, arrivals, executors)
        # The first start is a restart, too: nothing is processed until the tasks run.
        self.tasks.resize(executors, job.restart_s + job.restart_new_s)
        self.metrics = Metrics(self.tasks)
        self.samples: list[Sample] = []
        self._end_s = len(arrivals)
        self._target = executors
        self._joining: list[float] = []
        self._leaving: list[tuple[float, int]] = []
        """The times at which TaskManagers will be gone, with their numbers."""
        self._speeds = _wander(rates, self._end_s, job.noise, job.noise_run)
        self._busier = _wander(busy, self._end_s, job.busy_noise, job.busy_noise_run)
        self._hotter = math.exp(job.cpu_noise_run * float(shares.standard_normal()))
        self._starts = starts
        self._waits = np.exp(0.6 * waits.standard_normal(self._end_s // _SAMPLE_S + 2)).tolist()
        self._shocks = shares.standard_normal(self._end_s // _SAMPLE_S + 2).tolist()
        self._book: list[tuple[float, float, float]] = []
        self._registered: list[tuple[float, int]] = [(0.0, executors)]
        self._targets: list[tuple[float, int]] = [(0.0, executors)]
        self._started = executors
        self._down_s = 0

    def observe(self, now: float) -> Sequence[Observation]:
        """Return the job's metrics at this second."""
        return (self.metrics.observation(self._target),)

    def capabilities(self) -> Capabilities:
        """Return that the job can be scaled, and that each change is a restart."""
        return Capabilities(
            can_scale=True, cannot=("change its size without a restart from the last checkpoint",)
        )

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Set the number of replicas: TaskManagers that are still starting are cancelled first;
        stopping ones takes a moment.
        """
        if decision.target != self._target:
            self._target = decision.target
            self._targets.append((now, decision.target))
            self._move(now)
        moving = "growing" if self._joining else "shrinking" if self._leaving else "steady"
        return Rescaling(
            phase=moving, detail=f"{self.tasks.size} of {self._target} TaskManagers are registered"
        )

    def advance(self, now: float) -> None:
        """Simulate second by second up to ``now``; raises IndexError beyond the arrivals."""
        tasks, metrics = self.tasks, self.metrics
        while tasks.second < now:
            second = tasks.second
            if second % _SAMPLE_S == 0:
                self._sample(second)
            self._change(float(second))
            tasks.speed = self._speeds[second]
            tasks.step()
            metrics.step()
            self._book.append((tasks.age_s, tasks.processed, tasks.lag))
            self._down_s += second < tasks.down_until_s

    def ledger(self) -> Ledger:
        """Return the ledger of the run; latencies are the ages of records when they are read."""
        age_s, rows, lag = (np.array(column) for column in zip(*self._book, strict=True))
        seconds = np.arange(1.0, len(rows) + 1)
        done, read = rows > 0, self.tasks.mean_position()
        return Ledger(
            end_s=float(self.tasks.second),
            arrived_rows=self.tasks.arrived[self.tasks.second],
            committed_rows=read,
            latency_s=age_s[done],
            rows=rows[done] * (read / max(rows.sum(), 1e-9)),
            commit_s=seconds[done],
            left_age_s=np.array([self.tasks.age_s / 2]),
            left_rows=np.array([self.tasks.lag]),
            lag_t_s=seconds,
            lag_rows=lag,
            registered=_steps(self._registered),
            paid=_steps(self._registered),
            targets=_steps(self._targets),
            executors_started=self._started,
            downtime_s=float(self._down_s),
        )

    def finish(self) -> None:
        """Take the sample of the last moment."""
        if self.tasks.second % _SAMPLE_S == 0:
            self._sample(self.tasks.second)

    def _sample(self, second: int) -> None:
        index = second // _SAMPLE_S
        busier = self._busier[min(second, self._end_s - 1)]
        self.metrics.scatter(
            wait=self._waits[index], shock=self._shocks[index], hotter=self._hotter, busier=busier
        )
        observation = self.metrics.observation(self._target)
        rate = observation.input_rows_per_s or 0.0
        self.samples.append(
            Sample(
                float(second),
                self.tasks.size,
                self.metrics.lag_s,
                self.metrics.lag_rows,
                rate,
                observation,
            )
        )

    def _move(self, now: float) -> None:
        """Start or stop TaskManagers until the running and starting ones match the target."""
        # The planned number: TaskManagers on their way out or in count as gone or present.
        leaving = sum(count for _, count in self._leaving)
        planned = self.tasks.size - leaving + len(self._joining)
        while planned > self._target and self._joining:
            # Those that would register last are cancelled first, because the next one is the most
            # useful.
            self._joining.remove(max(self._joining))
            heapq.heapify(self._joining)
            planned -= 1
        if planned > self._target:
            self._leaving.append((now + self.job.stop_s, planned - self._target))
        # One draw per request, because its TaskManagers wait for the same scheduler and image.
        common = self.job.start_s * self._varied(self.job.restart_noise)
        for _ in range(self._target - planned):
            heapq.heappush(self._joining, now + common * self._varied(self.job.start_spread))
            self._started += 1

    def _change(self, now: float) -> None:
        size = self.tasks.size
        while self._leaving and self._leaving[0][0] <= now:
            size -= self._leaving.pop(0)[1]
        left = size
        while self._joining and self._joining[0] <= now:
            heapq.heappop(self._joining)
            size += 1
        # If one leaves while another joins, the number is unchanged but the job still restarts.
        if size == self.tasks.size and left == size:
            return
        down_s = self.job.restart_s + (self.job.restart_new_s if size > left else 0.0)
        self.tasks.resize(size, down_s * self._varied(self.job.restart_noise))
        self.metrics.restarted()
        self._registered.append((now, size))

    def _varied(self, deviation: float) -> float:
        return math.exp(deviation * float(self._starts.standard_normal()))


def _wander(
    generator: np.random.Generator, seconds: int, deviation: float, of_run: float
) -> list[float]:
    """Return one factor per second: one part for the complete run, and one that wanders and decays
    within minutes.
    """
    run = of_run * generator.standard_normal()
    kept = math.exp(-_STEP_S / _FORGETS_S)
    wander, walk = 0.0, []
    for shock in generator.standard_normal(seconds // _STEP_S + 2).tolist():
        # The root keeps the variance at 1 for any decay.
        wander = kept * wander + math.sqrt(1 - kept * kept) * shock
        walk.append(run + deviation * wander)
    inside = np.interp(np.arange(seconds), _STEP_S * np.arange(len(walk)), walk)
    return [float(factor) for factor in np.exp(inside)]


def _steps(moments: Sequence[tuple[float, int]]) -> Steps:
    times, values = zip(*moments, strict=True)
    return Steps(np.array(times, dtype=float), np.array(values, dtype=float))
