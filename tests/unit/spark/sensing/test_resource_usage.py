"""The resource usage of a live job in an observation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from rheostat.model import ExecutorSample, Observation, Stage
from rheostat.spark.sensing.local_processes import Used
from rheostat.spark.sensing.progress import ReportedBatch
from rheostat.spark.sensing.resource_usage import LastStages, LocalUsage, StageUsage
from rheostat.spark.sensing.rest import Executor
from rheostat.spark.sensing.stages import BatchStages


class Processes:
    def __init__(self, *answers: dict[str, Used]) -> None:
        self.answers = list(answers)

    def used(self) -> dict[str, Used]:
        return self.answers.pop(0)


class Finder:
    def __init__(self, stages: BatchStages | None) -> None:
        self.stages = stages
        self.requests: list[Any] = []

    def of_batch(
        self, run_id: str, batch_id: int, sources: Any, by_executor: bool = False
    ) -> BatchStages | None:
        self.requests.append((run_id, batch_id, tuple(sources), by_executor))
        return self.stages


def usage_of(finder: Any, needed: set[str], every_s: float = 10.0) -> StageUsage:
    return StageUsage(finder, needed, every_s)


def executors(*slots: int) -> list[Executor]:
    return [
        Executor(
            id=str(n),
            slots=count,
            active=True,
            task_s=0.0,
            peak_memory_bytes=None,
            registered_s="",
            removed_s=None,
        )
        for n, count in enumerate(slots)
    ]


def batch(number: int = 7, duration_s: float = 0.5) -> ReportedBatch:
    return ReportedBatch(
        query="q",
        run_id="r",
        batch_id=number,
        start_s=0.0,
        duration_s=duration_s,
        parts_s={},
        rows=0,
        output_rows=None,
        inputs={},
        committed={},
        latest={},
        state_rows=None,
        state_bytes=None,
        state_partitions=None,
        rows_by_source=(("bids", 900.0),),
    )


STAGES = BatchStages(7, (Stage(name="stage 0"),), 1.2, {"0": 600.0, "1": 300.0})
OBSERVED = Observation(t_s=100.0, executors=2, slots_per_executor=1, trigger_s=1.0, lag_rows=90.0)


def test_cpu_is_the_share_per_slot_between_two_observations():
    local = LocalUsage(
        Processes(
            {"0": Used(10.0, 1.0), "1": Used(0.0, 0.0)},
            {"0": Used(15.0, 3.0), "1": Used(10.0, 0.0)},
        ).used,
        lambda: 0.4,
    )
    first, second = local.observe(100.0, executors(1, 2)), local.observe(110.0, executors(1, 2))
    assert (first.cpu, first.cpu_python, first.load_per_core, first.by_executor) == (
        None,
        None,
        0.4,
        None,
    )
    assert second.cpu == pytest.approx(15.0 / 30.0)
    assert second.cpu_python == pytest.approx(2.0 / 30.0)
    assert second.by_executor == {"0": ExecutorSample(cpu=0.5), "1": ExecutorSample(cpu=0.5)}


def test_a_new_executor_counts_from_the_next_observation():
    local = LocalUsage(
        Processes({"0": Used(0.0, 0.0)}, {"0": Used(5.0, 0.0), "1": Used(9.0, 0.0)}).used,
        lambda: None,
    )
    local.observe(100.0, executors(1))
    assert local.observe(110.0, executors(1, 1)).cpu == pytest.approx(0.5)


def test_remote_executors_have_neither_cpu_nor_load():
    local = LocalUsage(Processes({}, {}).used, lambda: 3.0)
    assert [local.observe(t, executors(1)).load_per_core for t in (100.0, 110.0)] == [None, None]
    some = LocalUsage(Processes({"0": Used(0.0, 0.0)}, {"0": Used(5.0, 0.0)}).used, lambda: 3.0)
    assert [some.observe(t, executors(1, 1)).cpu for t in (100.0, 110.0)] == [None, None]


def test_a_policy_without_stage_signals_causes_no_request():
    finder = Finder(STAGES)
    assert usage_of(finder, {"busy", "lag_rows"}).fill(OBSERVED, batch(), LastStages()) == OBSERVED
    assert finder.requests == []


def test_only_the_signals_that_the_policy_needs_are_filled_in():
    staged = usage_of(Finder(STAGES), {"stages"}).fill(OBSERVED, batch(), LastStages())
    assert (staged.stages, staged.by_executor) == (STAGES.stages, None)
    finder = Finder(STAGES)
    shared = usage_of(finder, {"cpu", "by_executor"}).fill(OBSERVED, batch(), LastStages())
    assert finder.requests == [("r", 7, (("bids", 900.0),), True)]
    assert shared.stages is None
    assert shared.cpu == pytest.approx(1.2 / 2.0)  # 1.2 s on two slots of a second
    assert shared.by_executor == {
        "0": ExecutorSample(rows_per_s=600.0, lag_rows=60.0),
        "1": ExecutorSample(rows_per_s=300.0, lag_rows=30.0),
    }


def test_output_rows_come_from_the_last_stages_if_the_sink_counts_none():
    read = Stage(name="stage 1", upstream=("bids",), rows_in=900.0, rows_out=300.0)
    last = Stage(name="stage 2", upstream=("stage 1",), rows_in=300.0, rows_out=60.0)
    usage = usage_of(Finder(BatchStages(7, (read, last), 1.2, {})), {"output_rows_per_s"})
    observation = replace(OBSERVED, processed_rows_per_s=1800.0)
    assert usage.fill(observation, batch(), LastStages()) == replace(
        observation, output_rows_per_s=120.0
    )
    counted = replace(observation, output_rows_per_s=7.0)
    assert usage.fill(counted, batch(), LastStages()) == counted


def test_output_rows_are_those_of_the_stages_that_read_the_sources():
    # The log of a Delta table and a static table have rows that are not the batch's.
    log = Stage(name="other stage 0", rows_in=40.0)
    table = Stage(name="stage 1", rows_in=100.0, rows_out=100.0)
    read = Stage(name="stage 0", upstream=("bids",), rows_in=900.0, rows_out=900.0)
    last = Stage(name="stage 2", upstream=("stage 0", "stage 1"), rows_in=1000.0, rows_out=60.0)
    finder = Finder(BatchStages(7, (log, read, table, last), 1.2, {}))
    observation = replace(OBSERVED, processed_rows_per_s=1800.0)
    filled = usage_of(finder, {"output_rows_per_s"}).fill(observation, batch(), LastStages())
    assert filled.output_rows_per_s == 120.0


def test_output_rows_are_absent_if_stages_lack_row_counts():
    for stage in (Stage(name="s", rows_in=9.0), Stage(name="s", rows_out=9.0)):
        usage = usage_of(Finder(BatchStages(7, (stage,), 1.2, {})), {"output_rows_per_s"})
        observation = replace(OBSERVED, processed_rows_per_s=1800.0)
        assert usage.fill(observation, batch(), LastStages()).output_rows_per_s is None


def test_operating_system_cpu_takes_precedence_over_stage_cpu():
    finder = Finder(STAGES)
    for known in (
        Observation(t_s=100.0, executors=2, cpu=0.3),
        Observation(t_s=100.0, executors=2, load_per_core=0.5),
    ):
        assert usage_of(finder, {"cpu"}).fill(known, batch(), LastStages()) == known
    assert finder.requests == []


def request_times(usage: StageUsage, finder: Finder, batches: Mapping[float, ReportedBatch]) -> Any:
    """Return the times at which observations of these batches read the stages."""
    last, times = LastStages(), []
    for t_s, observed_batch in batches.items():
        before = len(finder.requests)
        filled = usage.fill(Observation(t_s=t_s, executors=2), observed_batch, last)
        assert filled.stages == STAGES.stages
        times += [t_s] * (len(finder.requests) - before)
    return times


def test_stages_are_requested_every_ten_seconds_and_reused_in_between():
    finder = Finder(STAGES)
    batches = {100.0 + 2 * n: batch() for n in range(30)}
    times = request_times(usage_of(finder, {"stages"}), finder, batches)
    assert times[-3:] == [136.0, 146.0, 156.0]


def test_with_a_longer_interval_stages_are_requested_often_only_at_first():
    finder = Finder(STAGES)
    batches = {100.0 + 3 * n: batch() for n in range(40)}
    times = request_times(usage_of(finder, {"stages"}, every_s=30.0), finder, batches)
    assert times == [100.0, 103.0, 106.0, 112.0, 124.0, 148.0, 178.0, 208.0]


def test_an_empty_first_batch_does_not_delay_the_request_for_one_with_rows():
    finder = Finder(STAGES)
    empty = replace(batch(), rows_by_source=(("bids", 0.0),))
    batches = {100.0: empty, 103.0: empty, 106.0: batch(), 109.0: batch()}
    times = request_times(usage_of(finder, {"stages"}, every_s=30.0), finder, batches)
    assert times == [100.0, 106.0, 109.0]


def test_a_batch_half_larger_than_any_before_is_requested_at_once() -> None:
    finder = Finder(STAGES)
    rows = [900.0, 900.0, 900.0, 900.0, 1300.0, 1400.0, 2000.0, 2200.0, 900.0, 2200.0]
    batches = {
        100.0 + 3 * n: replace(batch(), rows_by_source=(("bids", row_count),))
        for n, row_count in enumerate(rows)
    }
    times = request_times(usage_of(finder, {"stages"}, every_s=30.0), finder, batches)
    assert times == [100.0, 103.0, 106.0, 112.0, 118.0]


def test_without_a_response_the_last_stages_remain_for_a_minute():
    finder, last = Finder(STAGES), LastStages()
    usage = usage_of(finder, {"stages"})
    usage.fill(OBSERVED, batch(), last)
    finder.stages = None
    stages_by_time = [
        usage.fill(Observation(t_s=t, executors=2), batch(), last).stages
        for t in (111.0, 159.0, 170.0)
    ]
    assert stages_by_time == [STAGES.stages, STAGES.stages, None]


def test_an_idle_query_has_stages_without_rows_and_requests_none():
    finder, last = Finder(STAGES), LastStages()
    usage = usage_of(finder, {"stages", "cpu"})
    assert usage.fill(OBSERVED, batch(), last, idle=True).stages is None
    assert finder.requests == []
    usage.fill(OBSERVED, batch(), last)
    observation = usage.fill(OBSERVED, batch(), last, idle=True)
    assert observation.stages == (Stage(name="stage 0", rows_in=0.0, rows_out=0.0, busy_s=0.0),)
    assert observation.cpu == 0.0
    assert len(finder.requests) == 1


def test_the_cpu_of_an_older_batch_is_not_used():
    last = LastStages()
    usage = usage_of(Finder(STAGES), {"cpu"})
    assert usage.fill(OBSERVED, batch(number=8), last).cpu is None
