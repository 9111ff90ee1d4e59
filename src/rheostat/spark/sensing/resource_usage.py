"""The CPU of a live job: the operating system's for local executors, else of the stages."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rheostat.model import ExecutorSample, Observation, Stage, source_readers
from rheostat.spark.sensing.local_processes import Used, load_per_core
from rheostat.spark.sensing.progress import ReportedBatch
from rheostat.spark.sensing.rest import Executor
from rheostat.spark.sensing.stages import BatchStages, StagesEndpoint

_KEPT_S = 60.0
"""Stages remain valid for this long if a request fails: one failed page does not end the signal."""
_LARGER = 1.5
OF_STAGES = frozenset({"stages", "cpu", "by_executor", "output_rows_per_s"})
"""The signals that require stages; ``cpu`` only if the executors run on other computers,
``output_rows_per_s`` only if the sink does not count its rows, as Kafka's does not.
"""


@dataclass(eq=False)
class LocalUsage:
    """CPU shares per slot of the executors on this computer, between two observations."""

    used: Callable[[], Mapping[str, Used]]
    load: Callable[[], float | None] = load_per_core
    _before: tuple[float, Mapping[str, Used]] | None = None

    def observe(self, now: float, executors: Sequence[Executor]) -> Observation:
        """Return cpu, cpu_python, load_per_core and the CPU by executor; absent for executors on
        other computers, and at the first observation.
        """
        used = self.used()
        before, self._before = self._before, (now, used)
        empty = Observation(t_s=now, load_per_core=self.load() if used else None)
        slots = {executor.id: executor.slots for executor in executors}
        # If some executors run elsewhere, the share would describe only a part of them.
        if before is None or now <= before[0] or not slots or not used.keys() >= slots.keys():
            return empty
        known = {name: count for name, count in slots.items() if name in before[1] and count}
        spent = {
            name: _spent(before[1][name], used[name], (now - before[0]) * count)
            for name, count in known.items()
        }
        total = sum(known.values())
        if not total:
            return empty
        return replace(
            empty,
            cpu=sum(spent[name].jvm_s * count for name, count in known.items()) / total,
            cpu_python=sum(spent[name].python_s * count for name, count in known.items()) / total,
            by_executor={name: ExecutorSample(cpu=share.jvm_s) for name, share in spent.items()},
        )


def _spent(before: Used, after: Used, slot_s: float) -> Used:
    return Used(
        max(0.0, after.jvm_s - before.jvm_s) / slot_s,
        max(0.0, after.python_s - before.python_s) / slot_s,
    )


@dataclass(slots=True)
class LastStages:
    """The stages of a query that were read last."""

    stages: BatchStages | None = None
    stages_s: float = 0.0
    requested_s: float | None = None
    first_s: float | None = None
    """Unix time of the first request for a batch that had rows."""

    most_rows: float = 0.0
    """The rows of the largest batch that was requested."""

    cpu: float | None = None
    rows_per_s: Mapping[str, float] = field(default_factory=dict)


class StageUsage:
    """Fills in the signals that a policy names in ``live_signals`` and that only stages provide;
    requests stages every ``every_s`` seconds at most, with two exceptions.

    At first the interval is shorter: it equals the time from the first batch with rows to the last
    request, because the first batches are empty or cold and the estimates start from them. A batch
    that is 1.5 times as large as every earlier one is requested at once, because its cost per row
    is unknown.
    """

    def __init__(
        self, finder: StagesEndpoint, needed: Collection[str], every_s: float = 10.0
    ) -> None:
        self._finder = finder
        self._needed = frozenset(needed)
        self._every_s = every_s

    def fill(
        self, observation: Observation, batch: ReportedBatch, last: LastStages, idle: bool = False
    ) -> Observation:
        """Return the observation of a query with ``stages``, ``cpu``, ``by_executor`` and
        ``output_rows_per_s`` as far as they are needed and known.

        The stages of an idle query have no rows and no busy time; without an answer the last stages
        remain valid for a minute.
        """
        # The operating system's values follow at the next observation.
        here = observation.cpu is not None or observation.load_per_core is not None
        # Requested only if a policy needs it: each answer costs CPU of the driver.
        known = {"cpu"} if here else set()
        if observation.output_rows_per_s is not None:
            known.add("output_rows_per_s")
        wanted = self._needed & OF_STAGES - known
        if not wanted:
            return observation
        if idle:
            stages = last.stages.stages if last.stages and "stages" in wanted else None
            idle_stages = (
                replace(stage, rows_in=0.0, rows_out=0.0, busy_s=0.0) for stage in stages or ()
            )
            return replace(
                observation,
                stages=None if stages is None else tuple(idle_stages),
                cpu=0.0 if "cpu" in wanted else observation.cpu,
            )
        if self._is_due(observation.t_s, batch, last):
            self._request_stages(observation, batch, last)
        if last.stages is None:
            return observation
        return replace(
            observation,
            stages=last.stages.stages if "stages" in wanted else None,
            cpu=last.cpu if "cpu" in wanted else observation.cpu,
            by_executor=_by_executor(observation, last)
            if "by_executor" in wanted
            else observation.by_executor,
            output_rows_per_s=_output_rows_per_s(observation, last.stages.stages)
            if "output_rows_per_s" in wanted
            else observation.output_rows_per_s,
        )

    def _is_due(self, now_s: float, batch: ReportedBatch, last: LastStages) -> bool:
        if last.requested_s is None or (last.first_s is None and _rows(batch) > 0):
            return True
        if _rows(batch) > _LARGER * last.most_rows > 0:
            return True
        known_s = math.inf if last.first_s is None else max(0.0, last.requested_s - last.first_s)
        # After the clock was set back, requests must not stop for hours.
        return not 0 <= now_s - last.requested_s < min(self._every_s, known_s)

    def _request_stages(
        self, observation: Observation, batch: ReportedBatch, last: LastStages
    ) -> None:
        last.requested_s, last.most_rows = observation.t_s, max(last.most_rows, _rows(batch))
        if last.first_s is None and _rows(batch) > 0:
            last.first_s = observation.t_s
        stages = self._finder.of_batch(
            batch.run_id, batch.batch_id, batch.rows_by_source, "by_executor" in self._needed
        )
        if stages is None:
            last.stages = last.stages if 0 <= observation.t_s - last.stages_s < _KEPT_S else None
            return
        last.stages, last.stages_s = stages, observation.t_s
        interval_s = max(batch.duration_s, observation.trigger_s or 0.0)
        # A rate needs the duration of the same batch, and that of an older batch is unknown.
        if stages.batch_id != batch.batch_id or not interval_s:
            return
        slots = (observation.executors or 0) * (observation.slots_per_executor or 1)
        last.cpu = stages.cpu_s / (slots * interval_s) if slots else None
        last.rows_per_s = {
            name: rows / interval_s for name, rows in (stages.rows_by_executor or {}).items()
        }


def _rows(batch: ReportedBatch) -> float:
    return sum(rows for _, rows in batch.rows_by_source)


def _output_rows_per_s(observation: Observation, stages: Sequence[Stage]) -> float | None:
    """Return the rows per second that the last stages wrote of what the sources' readers read,
    scaled to the rows that the batch read, because the stages may belong to an earlier batch.
    """
    readers = source_readers(stages)
    read = sum(reader.rows_in or 0.0 for reader in readers)
    flow = {reader.name for reader in readers}
    for stage in stages:  # upstreams first
        flow |= {stage.name} if flow & set(stage.upstream) else set()
    upstream = {name for stage in stages for name in stage.upstream}
    out = [stage.rows_out for stage in stages if stage.name in flow - upstream]
    rows_out = sum(rows for rows in out if rows is not None)
    if not read or None in out or observation.processed_rows_per_s is None:
        return None
    return observation.processed_rows_per_s * rows_out / read


def _by_executor(observation: Observation, last: LastStages) -> Mapping[str, ExecutorSample] | None:
    """Return CPU and rows of each executor, and its backlog in proportion to the rows it read."""
    samples = dict(observation.by_executor or {})
    total = sum(last.rows_per_s.values())
    for name, rate in last.rows_per_s.items():
        lag_rows = observation.lag_rows
        waiting = lag_rows * rate / total if lag_rows is not None and total else None
        known = samples.get(name, ExecutorSample())
        samples[name] = replace(known, rows_per_s=rate, lag_rows=waiting)
    return samples or None
