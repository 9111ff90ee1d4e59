"""The numbers in the report of any run agree, for any rows, batches and executors."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.model import Limits, Slo
from rheostat_lab.report.batch_parts import PARTS, TOTAL, longest, parts, parts_of
from rheostat_lab.report.days import days_of
from rheostat_lab.report.finished_run import CommittedBatch, ExecutorLife, MachineSample, Ramp, Run
from rheostat_lab.report.machine_load import machine_load
from rheostat_lab.report.misses import misses, rows_lost
from rheostat_lab.report.rows_over_time import arrived, committed, waiting
from rheostat_lab.report.sizes_over_time import paid, registered
from rheostat_lab.report.summary import batch_latencies, share_in_time, summarize, to_json

START_S, LENGTH_S = 1_700_000_000.0, 60

seconds = st.lists(st.integers(0, 40), min_size=LENGTH_S, max_size=LENGTH_S)
taken = st.lists(
    st.tuples(st.integers(1, 15), st.sampled_from([0.0, 0.4, 1.0])), min_size=1, max_size=15
)
lives = st.lists(
    st.tuples(st.integers(-9, 70), st.integers(0, 9), st.one_of(st.none(), st.integers(0, 40))),
    min_size=1,
    max_size=6,
)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Draw a minute with rows in each second and batches that read all or part of the backlog."""
    rates, slo_s = draw(seconds), draw(st.sampled_from([1.0, 4.0, 20.0]))
    curve = [(START_S + n, float(rows)) for n, rows in enumerate([0, *np.cumsum(rates).tolist()])]
    batches: list[CommittedBatch] = []
    now, done = 0.0, 0
    for wait_s, share in draw(taken):
        if now + wait_s > LENGTH_S:
            break
        there = curve[int(now)][1]
        rows = math.floor(share * (there - done))
        now += wait_s
        if rows:
            commit_s = START_S + now
            batches.append(CommittedBatch(done, done + rows, commit_s - wait_s, commit_s, rows))
            done += rows
    executors = [
        ExecutorLife(
            str(number),
            START_S + at - early,
            START_S + at,
            None if lasts is None else START_S + at + lasts,
        )
        for number, (at, early, lasts) in enumerate(draw(lives))
    ]
    return Run(
        title="t",
        query="q1",
        policy="fixed",
        slo=Slo(latency_s=slo_s),
        limits=Limits(),
        trigger_s=1.0,
        interval_s=3.0,
        service_ms=2.0,
        start_s=START_S,
        end_s=START_S + LENGTH_S,
        warm_up_s=draw(st.sampled_from([0.0, 5.0])),
        records=[],
        curve=curve,
        batches=batches,
        executors=executors,
        ramp=Ramp(START_S + 10, START_S + 20),
        day_s=draw(st.sampled_from([None, 20.0])),
    )


@settings(max_examples=15, deadline=None)
@given(runs())
def test_on_time_late_and_lost_rows_sum_to_all_evaluated_rows(run: Run) -> None:
    judged = sum(
        spread.rows for part in batch_latencies(run, START_S + run.warm_up_s) for spread in part
    )
    lost, share = rows_lost(run), share_in_time(run)
    if share is None:
        assert judged + lost == 0
        return
    assert 0 <= share <= 1
    late = sum(miss.rows for miss in misses(run))
    # Misses of less than a row are not reported, in each batch and at the end.
    assert share * (judged + lost) + late == pytest.approx(judged + lost, abs=len(run.batches) + 1)


@settings(max_examples=15, deadline=None)
@given(runs())
def test_misses_are_ordered_and_at_least_one_objective_apart(run: Run) -> None:
    result = misses(run)
    for early, late in pairwise(result):
        assert late.start_s - early.end_s >= run.slo.latency_s
    for miss in result:
        assert miss.arrived_s + run.slo.latency_s == pytest.approx(miss.start_s)
        assert miss.worst_s > run.slo.latency_s
        assert miss.rows >= 1
        assert miss.start_s < miss.end_s <= run.end_s


@settings(max_examples=15, deadline=None)
@given(runs())
def test_rows_wait_from_arrival_to_commit(run: Run) -> None:
    times_s = np.linspace(START_S - 5, START_S + LENGTH_S + 5, 40)
    arrived_rows, committed_rows = arrived(run, times_s), committed(run, times_s)
    assert (np.diff(arrived_rows) >= 0).all()
    assert (np.diff(committed_rows) >= 0).all()
    assert (waiting(run, times_s) == np.maximum(0, arrived_rows - committed_rows)).all()
    assert committed_rows[-1] == sum(batch.rows for batch in run.batches)


@settings(max_examples=10, deadline=None)
@given(runs())
def test_days_add_up_to_the_run(run: Run) -> None:
    days = list(days_of(run))
    assert len(days) == (3 if run.day_s else 1)
    for size in (registered, paid):
        assert sum(size(day).integral_s for day in days) == pytest.approx(size(run).integral_s)
    assert {batch for day in days for batch in map(_key, day.batches)} == set(
        map(_key, run.batches)
    )
    for early, late in pairwise(days):
        assert early.end_s == late.start_s
        assert early.ramp
        assert late.ramp
        assert late.ramp.start_s - early.ramp.start_s == 20.0


def _key(batch: CommittedBatch) -> int:
    return batch.first_row


@settings(max_examples=10, deadline=None)
@given(runs())
def test_the_summary_of_any_run_is_valid_json_with_consistent_numbers(run: Run) -> None:
    summary = summarize(replace(run, price_per_slot_hour=0.5))
    read = json.loads(json.dumps(to_json(summary), allow_nan=False))
    assert read["executors_min"] <= read["executors_mean"] <= read["executors_max"]
    assert read["slot_hours"] >= 0
    assert len(read["days"]) == (3 if run.day_s else 0)
    assert [base["name"] for base in read["baselines"]] == ["fixed maximum", "fixed mean"]
    if summary.latency_mean_s is not None:
        assert 0 <= summary.latency_mean_s <= LENGTH_S


spent = st.dictionaries(
    st.sampled_from([*PARTS, "somethingNew", TOTAL]), st.floats(0, 9), max_size=5
)


@settings(max_examples=25)
@given(st.lists(spent, max_size=6))
def test_batch_parts_sum_to_the_batch_time(all_spent: list[dict[str, float]]) -> None:
    batches = [
        CommittedBatch(n, n + 1, 0.0, 4.0, 1, parts_s) for n, parts_s in enumerate(all_spent)
    ]
    result = parts(batches)
    assert not result or sum(part.share for part in result) == pytest.approx(1.0)
    for batch in batches:
        split = parts_of(batch)
        assert not split or sum(split.values()) >= batch.parts_s.get(TOTAL, 4.0) - 1e-9
        assert all(time_s >= 0 for time_s in split.values())
    for part in result:
        assert 0 <= part.mean_s <= part.longest_s + 1e-9
    assert longest(batches).startswith("the longest batch took 4.0 s" if batches else "")


share = st.floats(0, 1)
samples = st.lists(
    st.builds(
        MachineSample,
        t_s=st.integers(0, 20).map(float),
        cpu=share,
        own_cpu=st.none() | share,
        load=st.none() | st.floats(0, 4),
    ),
    max_size=8,
)


@settings(max_examples=25)
@given(samples, st.integers(0, 10), st.integers(0, 10))
def test_the_machine_load_covers_only_the_requested_time(
    recorded: list[MachineSample], from_s: int, more_s: int
) -> None:
    inside = [sample for sample in recorded if from_s <= sample.t_s <= from_s + more_s]
    load = machine_load(recorded, from_s, from_s + more_s)
    if load is None:
        assert not inside
        return
    assert load.cpu_max == max(sample.cpu for sample in inside)
    assert min(sample.cpu for sample in inside) - 1e-9 <= load.cpu <= load.cpu_max + 1e-9
    assert load.others_cpu is None or load.others_cpu >= 0
    assert (load.load is None) == all(sample.load is None for sample in inside)
    assert load.in_words().startswith("CPU ")
