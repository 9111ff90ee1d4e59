"""The tasks of a Flink job in reactive mode, second by second: positions in Kafka, checkpoints,
restarts, warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rheostat_lab.flink.flink_job import FlinkJob


class TaskGroup:
    """Identical tasks: as many partitions each, on TaskManagers that joined at the same time."""

    __slots__ = ("born_s", "count", "cpu", "partitions", "position", "second")

    def __init__(
        self, count: int, partitions: int, born_s: float, position: float, second: int
    ) -> None:
        self.count = count
        self.partitions = partitions
        self.born_s = born_s
        self.position = position
        """Rows of the complete topic up to which its partitions are read, if all were read like
        these."""
        self.second = second
        """The second in which the row at ``position`` arrived."""
        self.cpu = 0.0


class Tasks:
    """The running job: ``step`` is one second, ``resize`` a change of TaskManagers.

    ``arrivals`` are the rows of each second, equally distributed over all partitions. A task reads
    its own partitions, at most ceil(partitions / tasks), and the task with the most is the limit.
    If tasks exchange rows by key, all tasks process all rows instead, as fast as the coldest. After
    a restart, all partitions continue from the last complete checkpoint.
    """

    def __init__(self, job: FlinkJob, arrivals: Sequence[float], tasks: int) -> None:
        self.job = job
        self.second = 0
        self.arrived = [0.0]
        for rows in arrivals:
            self.arrived.append(self.arrived[-1] + rows)
        self.born: list[float] = [0.0] * tasks
        self.groups: list[TaskGroup] = []
        self.down_until_s = 0.0
        self.started_s = 0.0
        """The second at which this attempt began to process."""
        self.speed = 1.0
        """Noise factor of the rate."""
        self.processed = 0.0
        """Rows processed in the last second, including replayed ones."""
        self.used = 0.0
        """Share of the rate of warm tasks that was used in the last second."""
        self.worked = 0.0
        """Share of the time that tasks worked; more than ``used`` if they are cold, because rows
        take longer."""
        self.pressed = 0.0
        """Share of the tasks that have more work than capacity, smoothed over some seconds."""
        self.age_s = 0.0
        """Age of the records that are being read in seconds, mean over tasks."""
        self.lag = 0.0
        """Rows that have arrived and are not read."""
        self.cpu = 0.0
        self._durable = 0.0
        self._pending: tuple[float, float] | None = None
        self._next_s = job.checkpoint_s
        self.replayed = 0.0
        self._place(0.0)

    @property
    def size(self) -> int:
        """The number of TaskManagers."""
        return len(self.born)

    def mean_position(self) -> float:
        """Return the rows of the topic that have been read."""
        read = (
            sum(group.position * group.count * group.partitions for group in self.groups)
            / self.job.partitions
        )
        return min(read, self.arrived[self.second])

    def resize(self, tasks: int, down_s: float) -> None:
        """Add or remove TaskManagers: the job stops for ``down_s`` seconds and continues from its
        last checkpoint.
        """
        now = float(self.second)
        grown = tasks - len(self.born)
        # Kubernetes ends the newest pods of a deployment first.
        self.born = sorted(self.born)[:tasks] if grown <= 0 else self.born + [now] * grown
        # All partitions return to the last complete checkpoint and read the rows after it again.
        position = min(self._durable, self.mean_position())
        self.replayed = self.mean_position() - position
        self.down_until_s = now + down_s
        self.started_s = self.down_until_s
        # The restart loses a checkpoint in progress.
        self._pending, self._next_s = None, self.down_until_s + self.job.checkpoint_s
        self._place(position)
        self._update_waiting(self.arrived[self.second])

    def step(self) -> None:
        """Advance one second."""
        job, start = self.job, self.second
        self.second = start + 1
        now = self.arrived[self.second]
        if start < self.down_until_s:
            # Nothing is processed, but a starting JVM is half busy.
            self.processed, self.used, self.worked, self.cpu = 0.0, 0.0, 0.0, 0.5
            self._update_waiting(now)
            return
        tasks = len(self.born)
        work = job.work(tasks, self.age_s)
        rate = job.task_rate(tasks, self.age_s) * self.speed
        cost = job.cpu_use * tasks**job.cpu_spread * work / (job.rate_per_s * self.speed)
        warmth = [job.warmth(start - group.born_s) for group in self.groups]
        slowest, saturated = min(warmth), min(1.0, job.cpu_full * tasks**-job.cpu_full_spread)
        total, processed, used, worked, cpu, full = float(job.partitions), 0.0, 0.0, 0.0, 0.0, 0.0
        wanted = [(now - group.position) * group.partitions / total for group in self.groups]
        share = self._shared(wanted, rate * slowest * tasks) if job.shuffled else math.inf
        for group, warm, rows in zip(self.groups, warmth, wanted, strict=True):
            done = min(rows, share if job.shuffled else rate * warm)
            busy = done < rows and (warm <= slowest or not job.shuffled)
            full += group.count * (done < rows)
            group.position = min(now, group.position + done * total / group.partitions)
            processed += done * group.count
            used += done / rate * group.count
            worked += min(1.0, done / (rate * warm)) * group.count
            cpu += (
                saturated if busy else min(1.0, job.cpu_idle + cost * done / warm)
            ) * group.count
        self.processed, self.used, self.worked, self.cpu = (
            processed,
            used / tasks,
            worked / tasks,
            cpu / tasks,
        )
        # Smoothed over about five seconds, because buffers between tasks fill and drain that
        # slowly.
        self.pressed += ((full / tasks) - self.pressed) * 0.2
        self._update_waiting(now)
        self._checkpoint()

    def _shared(self, wanted: Sequence[float], able: float) -> float:
        """Return the rows that each task may read if all tasks process all rows; tasks that want
        less leave the rest to the others.
        """
        counts = [group.count for group in self.groups]
        # Water filling: the task that wants least is served completely, and the others share the
        # rest.
        for rows, count in sorted(zip(wanted, counts, strict=True)):
            if rows * sum(counts) >= able:
                break
            able -= rows * count
            counts.remove(count)
        return able / sum(counts) if counts else math.inf

    def _update_waiting(self, now: float) -> None:
        """Compute the lag and the age of the records."""
        arrived, total, waiting = self.arrived, 0.0, 0.0
        for group in self.groups:
            position, second = group.position, group.second
            waiting += (now - position) * group.count * group.partitions
            if position >= now:
                group.second = self.second
                continue
            # Starts at the last position: positions only increase between restarts, so the search
            # is short.
            while arrived[second + 1] <= position:
                second += 1
            group.second = second
            rows = arrived[second + 1] - arrived[second]
            inside = (position - arrived[second]) / rows if rows > 0 else 0.0
            total += (self.second - second - inside) * group.count
        self.age_s = total / len(self.born)
        self.lag = waiting / self.job.partitions

    def _checkpoint(self) -> None:
        now = float(self.second)
        if self._pending is not None and now >= self._pending[0]:
            self._durable, self._pending = self._pending[1], None
        # One checkpoint at a time, as in Flink's default.
        if self._pending is None and now >= self._next_s:
            takes_s = self.job.checkpoint_takes_s + self.job.checkpoint_pressed_s * self.pressed
            self._pending = (now + takes_s, self.mean_position())
            self._next_s = now + self.job.checkpoint_s

    def _place(self, position: float) -> None:
        """Distribute the partitions over the tasks: the oldest TaskManagers get one more if they do
        not divide evenly.
        """
        tasks, partitions = len(self.born), self.job.partitions
        low, more = divmod(partitions, tasks)
        second = self._second_of(position)
        # Identical tasks form one group, so that a second costs a few groups instead of a hundred
        # tasks.
        counts: dict[tuple[float, int], int] = {}
        for index, born_s in enumerate(self.born):
            key = (born_s, low + (index < more))
            counts[key] = counts.get(key, 0) + 1
        self.groups = [
            TaskGroup(count, parts, born_s, position, second)
            for (born_s, parts), count in counts.items()
            if parts > 0
        ]

    def _second_of(self, position: float) -> int:
        second = min((group.second for group in self.groups), default=0)
        while second > 0 and self.arrived[second] > position:
            second -= 1
        while second < self.second and self.arrived[second + 1] <= position:
            second += 1
        return second
