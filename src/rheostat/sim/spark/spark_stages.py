"""The stages of a simulated query: how much work each task has, and where it runs."""

from __future__ import annotations

from collections.abc import Sequence

from rheostat.sim.noise import Noise
from rheostat.sim.spark.spark_batch import Executor, StageRun, run_anywhere, run_at_home, strays
from rheostat.sim.spark.spark_fleet import Fleet
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.state.assignment import minimal_movement

SOURCES = ("kafka", "kafka 2")
"""The sources of a query; only a join has the second one."""
NOBODY = -1
"""Owner of a state partition that no executor has opened yet."""


class Stages:
    """Runs the source stage on any slot, and the stateful stage where the state is."""

    def __init__(self, p: SparkParameters, noise: Noise) -> None:
        self._p, self._noise = p, noise
        self._curve = p.model.curve
        self._source = _weights(p.source_partitions, p.source_skew)
        self._state = _weights(p.state_partitions, p.state_skew)
        self.owners = [NOBODY] * p.state_partitions
        """The executor that each state partition is assigned to."""
        self._loaded = list(self.owners)
        """The executor that has each state partition open."""
        self._placed_for: tuple[int, ...] = ()
        self._settled = True

    def needs(self, executor: Executor) -> bool:
        """Return whether state must move off an executor before it may be removed."""
        return self._p.placement and executor.number in self.owners

    def place(self, fleet: Fleet, now: float) -> None:
        """Assign the state partitions if the executors for them have changed."""
        if not self.owners:
            return
        staying = fleet.staying
        warm = [
            executor
            for executor in staying
            if now >= executor.registered_s + self._p.warm_up_s or not executor.state_cold
        ]
        # If none is warm, as at the start, a cold executor must take the state.
        homes = tuple(executor.number for executor in warm or staying)
        if homes == self._placed_for and (self._settled or not self._p.placement):
            return
        self._placed_for, self._settled = homes, True
        if not self._p.placement:
            self.owners = adopted(self.owners, homes)
            return
        wanted = rebalanced(self.owners, homes)
        living = [executor.number for executor in fleet.executors]
        self.owners = step(self.owners, wanted, living, self._p.moves_per_batch or len(wanted))
        self._settled = self.owners == wanted

    def run(self, rows: float, fleet: Fleet, begin_s: float, state_rows: float) -> list[StageRun]:
        """Run the stages from ``begin_s`` on and return them."""
        p, executors = self._p, fleet.staying
        slowdown = self._curve.slowdown(len(executors) * p.slots_per_executor)
        reach = rows * p.selectivity if self.owners else rows
        output = reach if self.owners else reach * p.output_share
        sources = [
            StageRun(
                f"source{name.removeprefix(SOURCES[0])}", (name,), share * rows, share * output
            )
            for name, (share, _) in zip(SOURCES, p.shares, strict=False)
        ]
        work_s = [
            self._work(self._source, p.source_task_s, share * rows * row_s * slowdown)
            for share, row_s in p.shares
        ]
        end_s = _run_sources(sources, work_s, executors, p, begin_s)
        if not self.owners:
            return sources
        names = tuple(source.name for source in sources)
        state = StageRun("state", names, reach, reach * p.output_share)
        row_work_s = reach * p.state_row_s * p.growth(state_rows) * slowdown
        self._run_state(state, row_work_s, fleet.executors, end_s, state_rows * p.state_row_bytes)
        return [*sources, state]

    def _run_state(
        self,
        run: StageRun,
        row_work_s: float,
        executors: list[Executor],
        begin_s: float,
        state_bytes: float,
    ) -> None:
        p = self._p
        work_s = self._work(self._state, p.state_commit_s, row_work_s)
        factors = {executor.number: executor.factor(begin_s) for executor in executors}
        homes = self.owners
        # Only tasks that take longer than the locality wait can delay another one beyond it.
        if len(executors) > 1 and max(work_s) * max(factors.values()) > p.locality_wait_s:
            homes = strays(work_s, homes, factors, p.slots_per_executor, p.locality_wait_s)
            # State stays where it was opened until the next placement.
            self._settled, self.owners = False, homes
        if homes != self._loaded:
            by_number = {executor.number: executor for executor in executors}
            self._load(work_s, homes, by_number, state_bytes)
        run_at_home(run, work_s, homes, factors, p.slots_per_executor, begin_s)

    def _load(
        self,
        work_s: list[float],
        homes: list[int],
        executors: dict[int, Executor],
        state_bytes: float,
    ) -> None:
        """Add the time to load partitions that moved; a query's first start opens empty state."""
        load_s = self._p.load_s + state_bytes / max(1, len(homes)) / self._p.load_bytes_per_s
        for task, (home, before) in enumerate(zip(homes, self._loaded, strict=True)):
            # A partition that stays, or is opened for the first time, has nothing to load.
            if home == before or before == NOBODY:
                continue
            executor = executors[home]
            cold = executor.state_cold and self._p.warm_up_s == 0
            work_s[task] += load_s + (self._p.cold_state_s if cold else 0.0)
            # Only the first load on an executor is slow: it loads the state store's classes.
            executor.state_cold = False
        self._loaded = list(homes)

    def _work(self, weights: list[float], task_s: float, row_work_s: float) -> list[float]:
        factors = self._noise.take(len(weights))
        return [
            (task_s + weight * row_work_s) * factor
            for weight, factor in zip(weights, factors, strict=True)
        ]


def _run_sources(
    sources: Sequence[StageRun],
    work_s: Sequence[list[float]],
    executors: Sequence[Executor],
    p: SparkParameters,
    begin_s: float,
) -> float:
    """Run the tasks of all sources in one queue, as Spark does; return when the last one ends."""
    queue = StageRun("sources", (), 0.0, 0.0)
    tasks_s = [task_s for source_s in work_s for task_s in source_s]
    end_s = run_anywhere(queue, tasks_s, executors, p.slots_per_executor, begin_s, p.cold_s)
    for i, source in enumerate(sources):
        part = slice(i * p.source_partitions, (i + 1) * p.source_partitions)
        source.task_s, source.ends_s = queue.task_s[part], queue.ends_s[part]
    return end_s


def _weights(tasks: int, skew: float) -> list[float]:
    """Return each task's share of the rows: the first has ``skew`` times the mean."""
    if tasks < 2 or skew == 1:
        return [1 / tasks] * tasks if tasks else []
    return [skew / tasks] + [(1 - skew / tasks) / (tasks - 1)] * (tasks - 1)


def rebalanced(owners: Sequence[int], executors: Sequence[int]) -> list[int]:
    """Return the executor of each partition after balancing with the fewest moves."""
    current = {("simulated", place): str(owner) for place, owner in enumerate(owners)}
    # This is the product's own assignment, so simulated moves are those of a real job.
    wanted = minimal_movement(current, [str(executor) for executor in executors])
    return [int(wanted["simulated", place]) for place in range(len(owners))]


def adopted(owners: Sequence[int], executors: Sequence[int]) -> list[int]:
    """Return the executor of each partition by Spark's locality: only new ones are assigned."""
    held = {executor: owners.count(executor) for executor in executors}
    homes = []
    for owner in owners:
        fewest = min(executors, key=lambda executor: (held[executor], executor))
        home = owner if owner in held else fewest
        held[home] += owner not in held
        homes.append(home)
    return homes


def step(
    owners: Sequence[int], wanted: Sequence[int], living: Sequence[int], most: int
) -> list[int]:
    """Return the owners after at most ``most`` moves; moves off lost executors do not count."""
    moved = list(owners)
    for place, (owner, home) in enumerate(zip(owners, wanted, strict=True)):
        # Partitions of lost executors must be loaded again in any case.
        if owner not in living:
            moved[place] = home
        elif owner != home and most > 0:
            moved[place] = home
            most -= 1
    return moved
