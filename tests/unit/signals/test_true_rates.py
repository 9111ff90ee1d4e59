from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation, Stage
from rheostat.signals.true_rates import (
    busy_share,
    check_graph,
    consumed_rows_per_s,
    executors_for,
    in_order,
    job_true_rate,
    needs,
    rounded_up,
    stage_needs,
)


def job(*stages: Stage, **signals: Any) -> Observation:
    usual: dict[str, Any] = {"t_s": 0.0, "executors": 4, "input_rows_per_s": 100.0}
    return Observation(**{**usual, **signals}, stages=stages)


def stage(
    name: str,
    *upstream: str,
    rows_in: float | None = 100.0,
    rows_out: float | None = 100.0,
    busy_s: float | None = 1.0,
) -> Stage:
    return Stage(name=name, upstream=upstream, rows_in=rows_in, rows_out=rows_out, busy_s=busy_s)


def test_true_rates_do_not_depend_on_the_number_of_slots():
    # 300 rows in 1.5 busy slot-seconds are 200 rows/s per slot, on one slot or on eight: 100 rows/s
    # need half a slot.
    for executors in (1, 8):
        (operator,) = stage_needs(
            job(stage("map", "kafka", rows_in=300.0, busy_s=1.5), executors=executors)
        )
        assert (operator.rate_per_s, operator.per_slot, operator.slots) == (100.0, 200.0, 0.5)


def test_a_stage_target_is_the_output_of_its_upstreams_at_their_targets():
    # A filter keeps a tenth: of 100 rows/s 10 remain, and the unrounded parallelism decides, not
    # the rounded one.
    _, second = stage_needs(
        job(
            stage("filter", "kafka", rows_in=50.0, rows_out=5.0),
            stage("count", "filter", rows_in=5.0),
        )
    )
    assert second.rate_per_s == pytest.approx(10.0)
    assert second.slots == pytest.approx(2.0)


def test_a_join_receives_the_rates_of_both_sources():
    observation = job(
        stage("left"),
        stage("right", rows_in=200.0),
        stage("join", "left", "right", rows_in=300.0),
        inputs={"left": 100.0, "right": 50.0},
    )
    assert {operator.name: operator.rate_per_s for operator in stage_needs(observation)} == {
        "left": 100.0,
        "right": 50.0,
        "join": 125.0,
    }


def test_a_stage_with_two_consumers_feeds_all_rows_to_both():
    operators = stage_needs(job(stage("read"), stage("a", "read"), stage("b", "read")))
    assert [operator.rate_per_s for operator in operators] == [100.0, 100.0, 100.0]


@pytest.mark.parametrize(
    ("stages", "signals", "place"),
    [
        ((stage("a", "c"), stage("b", "a"), stage("c", "b")), {}, "form a cycle .*a"),
        ((stage("a", "a"),), {}, "form a cycle .*a -> a"),
        (
            (stage("left"), stage("right")),
            {},
            r"2 source\(s\) \(left, right\), but inputs has no rate for left, right",
        ),
        ((stage("left"), stage("right")), {"inputs": {"left": 1.0}}, "no rate for right"),
        ((stage("map", "x", "y"),), {"inputs": {"x": 1.0}}, "no rate for y"),
        ((stage("a"), stage("a", "k")), {}, "two stages are named a"),
    ],
)
def test_an_invalid_stage_graph_is_rejected_with_its_location(stages, signals, place):
    observation = job(*stages, **signals)
    with pytest.raises(BadInput, match=place):
        check_graph(observation)
    assert needs(observation).operators == ()
    with pytest.raises(BadInput, match=place):
        stage_needs(observation)


def test_a_valid_graph_passes_even_with_missing_numbers():
    check_graph(job(stage("left", rows_in=None), stage("right"), input_rows_per_s=None))
    check_graph(Observation(t_s=0.0))
    check_graph(job(stage("read"), stage("count", "read")))


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        (stage("count", "map", rows_in=None), "true rate of stage count"),
        (stage("count", "map", busy_s=None), "true rate of stage count"),
        (stage("count", "map", busy_s=0.0), "true rate of stage count"),
        (stage("count", "map", rows_in=float("nan")), "true rate of stage count"),
        (stage("count", "map", busy_s=-1.0), "true rate of stage count"),
    ],
)
def test_a_stage_without_a_true_rate_makes_the_signal_absent(broken, place):
    result = needs(job(stage("map", "kafka"), broken))
    assert result.operators == ()
    assert place in result.detail


def test_output_rows_are_required_only_for_stages_with_consumers():
    assert needs(job(stage("map", "kafka", rows_out=None))).operators
    assert (
        needs(job(stage("map", "kafka", rows_out=None), stage("count", "map"))).detail
        == "the rows out of stage map are unknown"
    )


def test_an_idle_stage_needs_no_slots_without_arrivals():
    result = needs(
        job(stage("map", "kafka", rows_in=0.0, rows_out=0.0, busy_s=0.0), input_rows_per_s=0.0)
    )
    assert [operator.slots for operator in result.operators] == [0.0]


def test_a_single_source_may_use_the_rate_of_the_job():
    assert stage_needs(job(stage("map"), input_rows_per_s=70.0))[0].rate_per_s == 70.0
    assert (
        stage_needs(job(stage("map"), input_rows_per_s=70.0, inputs={"topic bids": 60.0}))[
            0
        ].rate_per_s
        == 60.0
    )
    assert stage_needs(job(stage("map"), inputs={"map": 60.0, "other": 5.0}))[0].rate_per_s == 60.0


@pytest.mark.parametrize(
    ("signals", "consumed", "busy", "true_rate"),
    [
        ({"processed_rows_per_s": 900.0, "busy": 0.3}, 900.0, 0.3, 3000.0),
        (
            {
                "batch_rows": 900,
                "batch_s": 0.3,
                "trigger_s": 1.0,
                "busy": 0.1,
                "processed_rows_per_s": 3000.0,
            },
            900.0,
            0.3,
            3000.0,
        ),
        ({"batch_rows": 9000, "batch_s": 3.0, "trigger_s": 1.0}, 3000.0, 1.0, 3000.0),
        ({"batch_rows": 900, "batch_s": 0.3, "trigger_s": 0.0}, 3000.0, 1.0, 3000.0),
        ({"processed_rows_per_s": 900.0, "busy": 0.0}, 900.0, 0.0, None),
        ({"processed_rows_per_s": 900.0}, 900.0, None, None),
        ({"batch_rows": 0, "batch_s": 0.0, "busy": 0.0}, None, 0.0, None),
        ({}, None, None, None),
    ],
)
def test_without_stages_the_job_is_one_operator(signals, consumed, busy, true_rate):
    observation = Observation(t_s=0.0, executors=2, input_rows_per_s=1500.0, **signals)
    assert consumed_rows_per_s(observation) == pytest.approx(consumed)
    assert busy_share(observation) == pytest.approx(busy)
    assert job_true_rate(observation) == pytest.approx(true_rate)
    result = needs(observation)
    assert [operator.slots for operator in result.operators] == (
        [pytest.approx(1.0)] if true_rate else []
    )


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1.1 * 10, 11), (11.01, 12), (0.0, 0), (3.0, 3), (1.33 * 100, 133), (1e18, 10**18)],
)
def test_rounding_up_ignores_floating_point_noise(number, expected):
    assert rounded_up(number) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("slots", "per", "executors"),
    [(0.0, 4, 1), (4.0, 4, 1), (4.1, 4, 2), (9.0, 1, 9), (9.0, None, 9), (9.0, 0, 9)],
)
def test_executors_are_rounded_up_to_hold_the_slots(slots, per, executors):
    assert executors_for(slots, Observation(t_s=0.0, slots_per_executor=per)) == executors


def test_stages_are_sorted_topologically():
    assert [s.name for s in in_order((stage("c", "b"), stage("b", "a"), stage("a")))] == [
        "a",
        "b",
        "c",
    ]


def test_a_stage_that_reads_no_source_is_none_and_keeps_its_share_of_the_rows():
    # With Delta a job of each batch reads the table's log; it has no external rate of its own.
    read = stage("stage 0", "bids", rows_in=50.0, busy_s=1.0)
    log = stage("other stage 0", rows_in=10.0, rows_out=None, busy_s=0.5)
    operators = {operator.name: operator for operator in stage_needs(job(log, read))}
    assert operators["stage 0"].rate_per_s == 100.0
    assert operators["other stage 0"].rate_per_s == pytest.approx(20.0)
    assert operators["other stage 0"].slots == pytest.approx(1.0)
    check_graph(job(log, read))
    # A static table that is joined by a shuffle adds its rows to those of the sources.
    join = stage("stage 1", "stage 0", "table", rows_in=70.0, rows_out=1.0)
    table = stage("table", rows_in=20.0, rows_out=20.0)
    read = stage("stage 0", "bids", rows_in=50.0, rows_out=50.0)
    *_, joined = stage_needs(job(read, table, join))
    assert joined.rate_per_s == pytest.approx(140.0)
    # The rows of an idle batch have no proportion.
    idle = stage("stage 0", "bids", rows_in=0.0, rows_out=0.0, busy_s=0.0)
    assert {each.slots for each in stage_needs(job(idle, log, input_rows_per_s=0.0))} == {0.0}


def test_a_recorded_graph_may_name_its_sources_as_stages():
    observation = job(
        stage("left"), stage("right", "orders"), inputs={"left": 30.0, "orders": 70.0}
    )
    assert [operator.rate_per_s for operator in stage_needs(observation)] == [30.0, 70.0]
