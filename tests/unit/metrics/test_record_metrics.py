# mypy: disallow-untyped-calls=False
"""The metrics of records: what each record adds."""

from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest

from rheostat.journal.events import action_of, reason_class
from rheostat.journal.starts import Start
from rheostat.metrics.catalog import FAMILIES
from rheostat.metrics.record_metrics import RecordMetrics
from rheostat.model import Decision, GuardChange, Observation, Record, Rescaling

START = Start(
    t_s=0.0,
    mode="live",
    policy="fixed",
    slo_s=10.0,
    min_executors=1,
    max_executors=8,
    interval_s=5.0,
    application="app",
)


def record(
    t_s, executors=2, target=2, size=None, *, phase="steady", detail="", wanted=None, **more
):
    evidence = more.pop("evidence", {})
    guards = more.pop("guards", ())
    observation = Observation(
        t_s=t_s,
        executors=executors,
        target=executors if size is None else size,
        slots_per_executor=2,
        **more,
    )
    raw = Decision(target=wanted or target or 1, reason="because", evidence=evidence)
    return Record(
        t_s=t_s,
        observation=observation,
        queries=(),
        raw=raw if target else None,
        guards=guards,
        target=target,
        actions=(),
        rescaling=Rescaling(phase=phase, detail=detail),
    )


def folded(records, start=START):
    """Return the sums of counters and the values of histograms by name and labels."""
    metrics = RecordMetrics()
    sums: Any = defaultdict(float)
    values: Any = defaultdict(list)
    for item in records:
        for sample in metrics.samples(item, start):
            labels = {k: v for k, v in sample.labels.items() if k != "application"}
            key = (sample.name.removeprefix("rheostat_"), *labels.values())
            sums[key] += sample.value
            values[key].append(sample.value)
    return sums, values


def test_a_scale_out_is_completed_when_its_executors_have_registered():
    sums, values = folded(
        [
            record(0, 2, 4),
            record(5, 3, 4, 4, phase="growing"),
            record(12, 4, 4, 4),
            record(20, 4, 4, 4),
        ]
    )
    assert sums["rescales_total", "out", "completed"] == 1
    assert values["executor_arrival_seconds",] == [12]


def test_a_reversed_scale_out_is_superseded_or_blocked_by_the_cluster():
    out, back = record(0, 2, 4), record(10, 2, 2, 4)
    sums, _ = folded([out, record(5, 2, 4, 4, phase="growing"), back])
    assert sums["rescales_total", "out", "superseded"] == 1
    sums, _ = folded([out, record(5, 2, 4, 4, phase="blocked"), back])
    assert sums["rescales_total", "out", "blocked"] == 1
    assert sums["rescales_total", "out", "superseded"] == 0


def test_a_scale_out_in_two_steps_counts_as_two_rescales():
    sums, values = folded([record(0, 2, 3), record(5, 2, 5, 3), record(20, 5, 5, 5)])
    assert sums["rescales_total", "out", "completed"] == 2
    assert values["executor_arrival_seconds",] == [20, 15]


def test_advice_does_not_count_as_a_rescale():
    sums, _ = folded([record(0, 2, 4, phase="advised"), record(5, 4, 4, phase="advised")])
    assert not any(name == "rescales_total" and value for (name, *_), value in sums.items())


def test_slot_seconds_rows_and_late_rows_match_the_journal():
    late = {"input_rows_per_s": 100.0, "latency_s": 20.0}
    sums, _ = folded([record(0, **late), record(5, **late), record(10, **late)])
    assert sums["slot_seconds_total",] == 2 * 2 * 10
    assert sums["rows_total",] == 1000
    assert sums["late_rows_total",] == 1000


def test_a_batch_in_two_ticks_is_counted_once():
    shown = {"batch_s": 2.0, "batch_rows": 7, "latency_s": 1.5}
    _, values = folded([record(0, **shown), record(5, **shown), record(10, batch_s=3.0)])
    assert values["batch_duration_seconds",] == [2.0, 3.0]
    assert values["row_latency_seconds",] == [1.5]


def test_the_forecast_error_is_measured_at_the_end_of_its_horizon():
    evidence = {"forecast_s": 10.0, "forecast_rows_per_s_p50": 150.0}
    _, values = folded(
        [
            record(0, evidence=evidence, input_rows_per_s=90.0),
            record(5, input_rows_per_s=80.0),
            record(10, input_rows_per_s=100.0),
        ]
    )
    assert values["forecast_error_ratio",] == [0.5]


def test_failures_are_counted_by_exception_class_and_outages_once():
    failed = record(0, target=None, phase="failed", detail="KeyError: 'x'; the size stays")
    down = [record(t, broker_up=False) for t in (5, 10)]
    sums, _ = folded([failed, *down, record(15, broker_up=True), record(20, broker_up=False)])
    assert sums["failures_total", "KeyError"] == 1
    assert sums["failures_total", "broker_unreachable"] == 2


@pytest.mark.parametrize(
    ("item", "action", "reason"),
    [
        (record(0, 2, 3), "scale_out", "policy"),
        (record(0, 2, 1), "scale_in", "policy"),
        (record(0, 2, 2, evidence={"binds": "sink"}), "keep", "sink"),
        (record(0, 2, 2, phase="blocked"), "keep", "cluster"),
        (record(0, 2, None, phase="halted"), "none", "halted"),
        (
            record(
                0,
                2,
                2,
                wanted=4,
                guards=(GuardChange(guard="cooldown", before=4, after=2, reason="r"),),
            ),
            "keep",
            "cooldown",
        ),
    ],
)
def test_a_decision_has_an_action_and_a_reason_class(item, action, reason):
    assert (action_of(item), reason_class(item)) == (action, reason)


def test_counters_continue_after_the_clock_is_set_back():
    sums, _ = folded([record(1000), record(0), record(5), record(10)])
    assert sums["slot_seconds_total",] == 2 * 2 * 10


def test_every_metric_in_the_catalog_is_produced_by_a_record():
    everything = {
        family.signal: 1.0
        for family in FAMILIES.values()
        if family.signal and family.signal not in ("executors", "target", "slots_per_executor")
    }
    samples = RecordMetrics().samples(record(0, evidence={"binds": "sink"}, **everything), START)
    named = {sample.name for sample in samples}
    later = {
        "failures_total",
        "executor_arrival_seconds",
        "forecast_error_ratio",
        "state_moves_total",
    }
    windows = {"relative_lag_change", "gated_lag_change", "gated_lag_change_calm"}
    elsewhere = {f"rheostat_{name}" for name in later | windows | {"running_batch_seconds"}}
    assert set(FAMILIES) - named <= elsewhere | {
        "rheostat_utilization_calm",
        "rheostat_true_processing_rate_rows_per_second",
    }
    assert named <= set(FAMILIES)


def test_a_state_move_is_a_partition_on_a_different_executor():
    places: tuple[dict[str, dict[str, str]], ...] = (
        {"q": {"1": "0-3"}},
        {},
        {"q": {"1": "0-1", "2": "2"}},
        {"q": {"1": "0-1", "2": "2-3"}},
        {"again": {"3": "0-3"}},
    )
    ticks = [record(t_s) for t_s in range(len(places))]
    sums, values = folded(
        [
            replace(tick, rescaling=replace(tick.rescaling, places=of_tick))
            for tick, of_tick in zip(ticks, places, strict=True)
        ]
    )
    assert values["state_moves_total",] == [0, 1, 1, 0]
    assert sums["state_moves_total",] == 2
