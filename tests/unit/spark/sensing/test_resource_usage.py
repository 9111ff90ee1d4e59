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
from rheostat.spark.sensing.rest_executors import Executor
from rheostat.spark.sensing.stages import BatchStages


class Processes:
    def __init__(self, *answers: dict[str, Used]) -> None:
        self.answers = list(answers)

    def used(self) -> dict[str, Used]:
        return self.answers.pop(0)


class Finder:
    def __init__(self, found: BatchStages | None) -> None:
        self.found = found
        self.asked: list[Any] = []

    def of_batch(
        self, run_id: str, batch_id: int, sources: Any, by_executor: bool = False
    ) -> BatchStages | None:
        self.asked.append((run_id, batch_id, tuple(sources), by_executor))
        return self.found


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
SEEN = Observation(t_s=100.0, executors=2, slots_per_executor=1, trigger_s=1.0, lag_rows=90.0)


def test_cpu_is_the_share_per_slot_between_two_looks():
    local = LocalUsage(
        Processes(
            {"0": Used(10.0, 1.0), "1": Used(0.0, 0.0)},
            {"0": Used(15.0, 3.0), "1": Used(10.0, 0.0)},
        ),
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


def test_an_executor_that_came_meanwhile_counts_from_the_next_look_on():
    local = LocalUsage(
        Processes({"0": Used(0.0, 0.0)}, {"0": Used(5.0, 0.0), "1": Used(9.0, 0.0)}), lambda: None
    )
    local.observe(100.0, executors(1))
    assert local.observe(110.0, executors(1, 1)).cpu == pytest.approx(0.5)


def test_executors_elsewhere_have_no_cpu_and_no_load_that_is_ours():
    local = LocalUsage(Processes({}, {}), lambda: 3.0)
    assert [local.observe(t, executors(1)).load_per_core for t in (100.0, 110.0)] == [None, None]
    some = LocalUsage(Processes({"0": Used(0.0, 0.0)}, {"0": Used(5.0, 0.0)}), lambda: 3.0)
    assert [some.observe(t, executors(1, 1)).cpu for t in (100.0, 110.0)] == [None, None]


def test_a_policy_that_needs_nothing_costs_no_call():
    finder = Finder(STAGES)
    assert StageUsage(finder, {"busy", "lag_rows"}).fill(SEEN, batch(), LastStages()) == SEEN
    assert finder.asked == []


def test_what_the_policy_needs_is_filled_in_and_nothing_else():
    staged = StageUsage(Finder(STAGES), {"stages"}).fill(SEEN, batch(), LastStages())
    assert (staged.stages, staged.by_executor) == (STAGES.stages, None)
    finder = Finder(STAGES)
    shared = StageUsage(finder, {"cpu", "by_executor"}).fill(SEEN, batch(), LastStages())
    assert finder.asked == [("r", 7, (("bids", 900.0),), True)]
    assert shared.stages is None
    assert shared.cpu == pytest.approx(1.2 / 2.0)  # 1.2 s on two slots of a second
    assert shared.by_executor == {
        "0": ExecutorSample(rows_per_s=600.0, lag_rows=60.0),
        "1": ExecutorSample(rows_per_s=300.0, lag_rows=30.0),
    }


def test_where_the_sink_does_not_count_the_last_stages_tell_what_is_given_out():
    read = Stage(name="stage 1", upstream=("bids",), rows_in=900.0, rows_out=300.0)
    last = Stage(name="stage 2", upstream=("stage 1",), rows_in=300.0, rows_out=60.0)
    usage = StageUsage(Finder(BatchStages(7, (read, last), 1.2, {})), {"output_rows_per_s"})
    seen = replace(SEEN, processed_rows_per_s=1800.0)
    assert usage.fill(seen, batch(), LastStages()) == replace(seen, output_rows_per_s=120.0)
    counted = replace(seen, output_rows_per_s=7.0)
    assert usage.fill(counted, batch(), LastStages()) == counted


def test_stages_that_do_not_tell_their_rows_leave_what_is_given_out_absent():
    for stage in (Stage(name="s", rows_in=9.0), Stage(name="s", rows_out=9.0)):
        usage = StageUsage(Finder(BatchStages(7, (stage,), 1.2, {})), {"output_rows_per_s"})
        seen = replace(SEEN, processed_rows_per_s=1800.0)
        assert usage.fill(seen, batch(), LastStages()).output_rows_per_s is None


def test_the_operating_systems_cpu_is_better_than_that_of_stages():
    finder = Finder(STAGES)
    for known in (
        Observation(t_s=100.0, executors=2, cpu=0.3),
        Observation(t_s=100.0, executors=2, load_per_core=0.5),
    ):
        assert StageUsage(finder, {"cpu"}).fill(known, batch(), LastStages()) == known
    assert finder.asked == []


def asked_at(usage: StageUsage, finder: Finder, batches: Mapping[float, ReportedBatch]) -> Any:
    """Return the times at which observations of these batches read the stages."""
    last, found = LastStages(), []
    for t_s, seen in batches.items():
        before = len(finder.asked)
        filled = usage.fill(Observation(t_s=t_s, executors=2), seen, last)
        assert filled.stages == STAGES.stages
        found += [t_s] * (len(finder.asked) - before)
    return found


def test_stages_are_asked_for_every_ten_seconds_and_stay_between():
    finder = Finder(STAGES)
    looks = {100.0 + 2 * n: batch() for n in range(30)}
    asked = asked_at(StageUsage(finder, {"stages"}), finder, looks)
    assert asked[-3:] == [136.0, 146.0, 156.0]


def test_a_policy_may_need_the_stages_more_rarely_and_then_they_are_asked_for_often_at_first_only():
    finder = Finder(STAGES)
    looks = {100.0 + 3 * n: batch() for n in range(40)}
    asked = asked_at(StageUsage(finder, {"stages"}, every_s=30.0), finder, looks)
    assert asked == [100.0, 103.0, 106.0, 112.0, 124.0, 148.0, 178.0, 208.0]


def test_an_empty_first_batch_does_not_put_off_the_question_for_one_with_rows():
    finder = Finder(STAGES)
    empty = replace(batch(), rows_by_source=(("bids", 0.0),))
    looks = {100.0: empty, 103.0: empty, 106.0: batch(), 109.0: batch()}
    asked = asked_at(StageUsage(finder, {"stages"}, every_s=30.0), finder, looks)
    assert asked == [100.0, 106.0, 109.0]


def test_a_batch_that_is_larger_by_half_than_any_before_is_asked_for_at_once() -> None:
    finder = Finder(STAGES)
    rows = [900.0, 900.0, 900.0, 900.0, 1300.0, 1400.0, 2000.0, 2200.0, 900.0, 2200.0]
    looks = {
        100.0 + 3 * n: replace(batch(), rows_by_source=(("bids", each),))
        for n, each in enumerate(rows)
    }
    asked = asked_at(StageUsage(finder, {"stages"}, every_s=30.0), finder, looks)
    assert asked == [100.0, 103.0, 106.0, 112.0, 118.0]


def test_without_an_answer_the_last_stages_stay_for_a_minute():
    finder, last = Finder(STAGES), LastStages()
    usage = StageUsage(finder, {"stages"})
    usage.fill(SEEN, batch(), last)
    finder.found = None
    found = [
        usage.fill(Observation(t_s=t, executors=2), batch(), last).stages
        for t in (111.0, 159.0, 170.0)
    ]
    assert found == [STAGES.stages, STAGES.stages, None]


def test_an_idle_query_has_stages_without_rows_and_asks_for_none():
    finder, last = Finder(STAGES), LastStages()
    usage = StageUsage(finder, {"stages", "cpu"})
    assert usage.fill(SEEN, batch(), last, idle=True).stages is None
    assert finder.asked == []
    usage.fill(SEEN, batch(), last)
    seen = usage.fill(SEEN, batch(), last, idle=True)
    assert seen.stages == (Stage(name="stage 0", rows_in=0.0, rows_out=0.0, busy_s=0.0),)
    assert seen.cpu == 0.0
    assert len(finder.asked) == 1


def test_the_cpu_of_an_older_batch_is_not_laid_on_this_one():
    last = LastStages()
    usage = StageUsage(Finder(STAGES), {"cpu"})
    assert usage.fill(SEEN, batch(number=8), last).cpu is None
