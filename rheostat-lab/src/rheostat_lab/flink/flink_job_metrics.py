"""The errors of a Flink job's metrics: client windows, meters that are reset at a restart, and busy
time that under-reports.
"""

from __future__ import annotations

import math

from rheostat.model import Observation, Stage
from rheostat_lab.flink.flink_tasks import Tasks

_METER_S = 60
"""Window of Flink's meters and of Prometheus' rate and avg_over_time, in seconds."""

_BUCKET_S = 30
"""Seconds per sample of Kafka's client, which reports the largest lag of its last two samples."""


class Metrics:
    """Observes the tasks second by second; ``observation`` returns the result of a scrape."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._attempt = 0
        """Second in which this attempt began; its meters have no earlier data."""
        # Running sums: the mean over any window is then a difference of two entries.
        self._read = [0.0]
        self._busy = [0.0]
        self._busiest = [0.0]
        self._idle = [0.0]
        self._pressure = [0.0]
        self._cpu = [0.0]
        self._largest = self._largest_before = 0.0
        self._wait = 1.0
        self._shock = 0.0
        self._busier = self._hotter = 1.0

    def restarted(self) -> None:
        """Reset the meters."""
        self._attempt = self._tasks.second
        self._largest = self._largest_before = 0.0

    def scatter(self, *, wait: float, shock: float, hotter: float, busier: float) -> None:
        """Set the noise: factors of the shares and of the wait when the job keeps up, and a CPU
        shock in standard deviations.
        """
        self._wait, self._shock, self._hotter, self._busier = wait, shock, hotter, busier

    def step(self) -> None:
        """Add the last second."""
        tasks, job = self._tasks, self._tasks.job
        used, full, size = tasks.used, tasks.pressed, len(tasks.born)
        # Interpolated between calm and full by pressure, because busy time saturates before the
        # task does.
        calm = self._busier * job.busy_calm * tasks.worked**job.busy_power * size**-job.busy_spread
        busy = min(1.0, calm + (job.busy_full * size**-job.busy_full_spread * used - calm) * full)
        idle = max(0.0, 1 - busy - (job.blocked + job.waiting * (1 - used)) * full)
        self._read.append(self._read[-1] + tasks.processed)
        self._busy.append(self._busy[-1] + busy)
        self._busiest.append(self._busiest[-1] + min(1.0, busy * job.busiest))
        self._idle.append(self._idle[-1] + idle)
        self._pressure.append(self._pressure[-1] + job.pressure_full * full)
        self._cpu.append(self._cpu[-1] + self._noisy_cpu())
        # The largest of the current and the previous bucket, so that a lag is visible for 30 to 60
        # s.
        if (tasks.second - self._attempt) % _BUCKET_S == 0:
            self._largest_before, self._largest = self._largest, 0.0
        self._largest = max(self._largest, tasks.lag)

    def _noisy_cpu(self) -> float:
        """Return the CPU share with its noise."""
        share = min(1.0, self._tasks.cpu * self._hotter)
        deviation = self._tasks.job.cpu_noise / math.sqrt(len(self._tasks.born))
        return min(1.0, max(0.0, share + self._shock * deviation))

    @property
    def lag_rows(self) -> float:
        """Return the largest lag of the last 30 to 60 s, as the client reports it."""
        return max(self._largest, self._largest_before)

    @property
    def lag_s(self) -> float:
        """Return the wait of the records being read in seconds, mean over the source tasks."""
        return self._tasks.age_s + self._tasks.job.base_wait(len(self._tasks.born)) * self._wait

    def observation(self, target: int) -> Observation:
        """Return the observation at this second; while the job restarts, it has no metrics."""
        tasks, job = self._tasks, self._tasks.job
        now, size = tasks.second, len(tasks.born)
        window_s = min(_METER_S, now)
        arrived = (tasks.arrived[now] - tasks.arrived[now - window_s]) / max(1, window_s)
        cpu = self._mean(self._cpu, max(0, now - job.cpu_late_s), max(1, job.cpu_window_s))
        # A restarting job has no tasks to report; Kafka and the containers still report.
        if now < tasks.down_until_s:
            return Observation(
                t_s=float(now),
                executors=size,
                slots_per_executor=1,
                target=target,
                input_rows_per_s=arrived,
                cpu=cpu,
            )
        since = max(0, min(_METER_S, now - self._attempt))
        # Divided by the full minute also after a restart, like Flink's meters, which begin too low.
        metered = (self._read[now] - self._read[now - since]) / _METER_S
        within = max(1, min(since, now - int(tasks.started_s)))
        busy, sent = self._mean(self._busy, now, within), metered * job.share_joined(tasks.age_s)
        rows = self._read[now] - self._read[now - within]
        busiest = self._mean(self._busiest, now, within) * size * job.chained * within
        return Observation(
            t_s=float(now),
            executors=size,
            slots_per_executor=1,
            target=target,
            input_rows_per_s=arrived,
            processed_rows_per_s=metered,
            output_rows_per_s=sent,
            lag_rows=self.lag_rows,
            lag_rows_upper=self.lag_rows,
            lag_s=self.lag_s,
            busy=busy,
            idle=self._mean(self._idle, now, min(within, job.idle_window_s)),
            cpu=cpu,
            backpressure_ms_per_s=1000 * self._mean(self._pressure, now, within),
            stages=(
                (Stage(name="busiest", rows_in=rows, rows_out=rows, busy_s=busiest),)
                if rows > 0
                else None
            ),
        )

    @staticmethod
    def _mean(total: list[float], now: int, window_s: int) -> float:
        start = max(0, now - window_s)
        return (total[now] - total[start]) / (now - start) if now > start else 0.0
