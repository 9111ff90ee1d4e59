"""Runs the tasks of one simulated micro-batch on the slots of its executors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapreplace

from rheostat.model import Stage


@dataclass(slots=True)
class Executor:
    """A registered executor."""

    number: int
    registered_s: float
    cold: bool = True
    """Whether it has run no task yet."""

    state_cold: bool = True
    """Whether it has loaded no state yet."""

    leaving: bool = False
    slow: float = 1.0
    slow_until_s: float = 0.0

    def factor(self, t_s: float) -> float:
        """Return the factor by which tasks take longer on it at ``t_s``."""
        return self.slow if t_s < self.slow_until_s else 1.0


@dataclass(slots=True)
class StageRun:
    """One stage after its run: rows, and the duration and the end of each task."""

    name: str
    upstream: tuple[str, ...]
    rows_in: float
    rows_out: float
    task_s: list[float] = field(default_factory=list)
    ends_s: list[float] = field(default_factory=list)

    @property
    def stage(self) -> Stage:
        """The stage in the form of an observation."""
        ordered = sorted(self.task_s)
        return Stage(
            name=self.name,
            upstream=self.upstream,
            rows_in=self.rows_in,
            rows_out=self.rows_out,
            busy_s=sum(ordered),
            tasks=len(ordered),
            task_max_s=ordered[-1],
            task_median_s=ordered[len(ordered) // 2],
        )


def run_anywhere(
    run: StageRun,
    work_s: Sequence[float],
    executors: Sequence[Executor],
    slots: int,
    begin_s: float,
    cold_s: float,
) -> float:
    """Run tasks in order on the first free slot; return when the last one ends."""
    # Slots are numbered round by round, so that tasks fill one executor after the other, as Spark
    # balances them. Equal times with rising numbers already form a heap.
    free = [(begin_s, slot) for slot in range(slots * len(executors))]
    # Read the factors once: a straggler that recovers during a stage stays slow until its end.
    factors = [executor.factor(begin_s) for executor in executors]
    for work in work_s:
        t_s, slot = free[0]
        place = slot % len(executors)
        took_s = work * factors[place]
        if executors[place].cold:
            executors[place].cold = False
            # The first task of an executor loads classes and opens connections.
            took_s += cold_s
        run.task_s.append(took_s)
        run.ends_s.append(t_s + took_s)
        heapreplace(free, (t_s + took_s, slot))
    return max(run.ends_s)


def run_at_home(
    run: StageRun,
    work_s: Sequence[float],
    homes: Sequence[int],
    factors: dict[int, float],
    slots: int,
    begin_s: float,
) -> float:
    """Run each task on the executor with its state; return when the last one ends."""
    free = {number: [begin_s] * slots for number in factors}
    for work, home in zip(work_s, homes, strict=True):
        took_s = work * factors[home]
        end_s = free[home][0] + took_s
        heapreplace(free[home], end_s)
        run.task_s.append(took_s)
        run.ends_s.append(end_s)
    return max(run.ends_s)


def strays(
    work_s: Sequence[float],
    homes: Sequence[int],
    factors: dict[int, float],
    slots: int,
    wait_s: float,
) -> list[int]:
    """Return the executor of each task under Spark's delay scheduling.

    ``wait_s`` seconds after the last local launch, an idle slot takes a task of the longest queue;
    a launch at home restarts the wait.
    """
    queues = {
        number: [task for task, home in enumerate(homes) if home == number] for number in factors
    }
    free = [(0.0, number) for number in factors for _ in range(slots)]
    ran = list(homes)
    launched_s, relaxed = 0.0, False
    while any(queues.values()):
        t_s, home = min((t_s, number) for t_s, number in free if queues[number])
        idle_s, idle = min(
            ((t_s, number) for t_s, number in free if not queues[number]), default=(math.inf, home)
        )
        # Once Spark has given up locality, that lasts until a task is launched at home.
        stray_s = max(idle_s, launched_s if relaxed else launched_s + wait_s)
        relaxed = stray_s < t_s
        if relaxed:
            slot, executor, launched_s = (idle_s, idle), idle, stray_s
            queue = max(queues.values(), key=len)
        else:
            slot, executor, launched_s = (t_s, home), home, t_s
            queue = queues[home]
        task = queue.pop(0)
        ran[task] = executor
        free[free.index(slot)] = (launched_s + work_s[task] * factors[executor], executor)
    return ran


@dataclass(slots=True)
class SimulatedBatch:
    """One micro-batch: rows ``first_row`` to ``end_row``, from ``begin_s`` to ``end_s``."""

    begin_s: float
    end_s: float
    first_row: float
    end_row: float
    fixed_s: float
    stages: list[StageRun]

    @property
    def rows(self) -> float:
        """The number of its rows."""
        return self.end_row - self.first_row

    @property
    def batch_s(self) -> float:
        """Its duration in seconds."""
        return self.end_s - self.begin_s

    @property
    def task_s(self) -> float:
        """The slot-seconds of its tasks."""
        return sum(sum(stage.task_s) for stage in self.stages)
