from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation, Stage
from rheostat.policies.rates.ds2 import Ds2
from rheostat.policies.registry import create
from rheostat.testing.contracts import follow


def chain(
    source: float, first: tuple[float, float], second: tuple[float, float], sources: int = 1
) -> Observation:
    """DS2's own test graph: sources that only emit, then two operators; rates are true processing
    and true output rates, p = 1."""
    names = [f"S{n}" for n in range(sources)]
    return Observation(
        t_s=0.0,
        executors=1,
        slots_per_executor=1,
        inputs=dict.fromkeys(names, source),
        stages=(
            *(Stage(name=name, rows_in=0.0, rows_out=source, busy_s=1.0) for name in names),
            Stage(
                name="Op1", upstream=tuple(names), rows_in=first[0], rows_out=first[1], busy_s=1.0
            ),
            Stage(name="Op2", upstream=("Op1",), rows_in=second[0], rows_out=second[1], busy_s=1.0),
        ),
    )


@pytest.mark.parametrize(
    ("source", "first", "second", "one_source", "two_sources"),
    [
        (100.0, (50.0, 400.0), (100.0, 200.0), (2, 8), (4, 16)),
        (200.0, (40.0, 700.0), (99.0, 200.0), (5, 36), (10, 71)),
        (200.0, (10.0, 700.0), (201.0, 200.0), (20, 70), (40, 140)),
    ],
)
def test_decisions_match_the_published_examples(source, first, second, one_source, two_sources):
    for sources, expected in ((1, one_source), (2, two_sources)):
        decision = Ds2().decide(chain(source, first, second, sources), {})[0]
        assert decision.target == expected[1]
        assert decision.evidence["pi Op1"] == pytest.approx(expected[0])
        assert expected[1] - 1 < float(decision.evidence["pi Op2"] or 0) <= expected[1]


def two_stages(executors: int = 4, rate: float = 1000.0, **signals: Any) -> Observation:
    """At 1000 rows/s the first stage needs 2.5 slots; the second, with a tenth of the rows, 1.2."""
    usual: dict[str, Any] = {"t_s": 0.0, "slots_per_executor": 1, "trigger_s": 10.0}
    stages = (
        Stage(name="map", upstream=("kafka",), rows_in=4000.0, rows_out=400.0, busy_s=10.0),
        Stage(name="count", upstream=("map",), rows_in=400.0, rows_out=1.0, busy_s=4.8),
    )
    return Observation(
        executors=executors, input_rows_per_s=rate, stages=stages, **{**usual, **signals}
    )


@pytest.mark.parametrize(
    ("given", "signals", "target"),
    [
        ({"read": "per operator"}, {}, 3),
        ({"read": "per-operator"}, {}, 3),
        ({"read": "max"}, {}, 3),
        ({"read": "sum"}, {}, 4),  # 3.7
        ({"read": "max", "factor": 0.2}, {}, 3),  # 2.5 x 1.2 = 3.0, not 4
        ({"read": "sum", "factor": 0.2}, {}, 5),  # 4.44
        (
            {"read": "sum"},
            {"batch_s": 9.0, "batch_parts_s": {"addBatch": 7.0, "triggerExecution": 9.0}},
            5,
        ),  # 3.7 / 0.8
        ({"read": "sum", "fixed_s": 5.0}, {}, 8),  # 3.7 / 0.5
        ({"read": "sum", "fixed_s": 5.0}, {"trigger_s": 0.0}, 4),
        ({"read": "sum"}, {"slots_per_executor": 3}, 2),
        ({"read": "max"}, {"slots_per_executor": 3}, 1),
    ],
)
def test_the_three_readings_give_their_sizes(given, signals, target):
    assert Ds2(**given).decide(two_stages(**signals), {})[0].target == target


def test_a_fixed_cost_that_fills_the_interval_is_reported():
    decision = Ds2(read="sum", fixed_s=10.0).decide(two_stages(), {})[0]
    assert (decision.target, decision.reason) == (
        4,
        "size kept: the fixed cost of a batch fills the trigger interval",
    )


def test_a_cycle_or_a_missing_rate_keeps_the_size_with_a_reason():
    circle = (Stage(name="a", upstream=("b",)), Stage(name="b", upstream=("a",)))
    cycle = Observation(t_s=0.0, executors=4, input_rows_per_s=1.0, stages=circle)
    assert Ds2().decide(cycle, {})[0].target == 4
    assert "cycle" in Ds2().decide(cycle, {})[0].reason
    both = Observation(
        t_s=0.0, executors=4, input_rows_per_s=1.0, stages=(Stage(name="a"), Stage(name="b"))
    )
    assert "no rate for a, b" in Ds2().decide(both, {})[0].reason


def test_without_stages_the_job_is_one_operator():
    decision = Ds2().decide(
        Observation(
            t_s=0.0, executors=8, input_rows_per_s=900.0, processed_rows_per_s=800.0, busy=0.5
        ),
        {},
    )[0]
    assert decision.target == 5  # 8 x 0.5 x 900 / 800 = 4.5
    assert decision.reason == "5 slots needed for the job as one operator (per operator)"


@pytest.mark.parametrize(("rate", "target"), [(1200.0, 4), (801.0, 4), (799.0, 2), (1700.0, 5)])
def test_the_dead_band_tolerates_one_surplus_slot_but_not_two(rate, target):
    # The first stage needs 2.5 slots per 1000 rows/s: 3 of 4 from 801 to 1200 are within the band,
    # 2 at 799 are not.
    assert Ds2(dead_band=1).decide(two_stages(rate=rate), {})[0].target == target


def test_epochs_at_the_start_and_after_a_change_of_size_are_ignored():
    script = [
        *(two_stages(executors=2, t_s=5.0 * n) for n in range(3)),
        *(two_stages(rate=2000.0, t_s=5.0 * n) for n in range(3, 7)),
    ]
    decisions, _ = follow(Ds2(warm_up=2), script)
    assert [decision.target for decision in decisions] == [2, 2, 3, 4, 4, 5, 5]
    assert decisions[4].reason == "size kept: 2 epochs since the last change of size"


def test_decisions_wait_for_the_activation_time_and_use_the_last_epoch():
    script = [
        two_stages(rate=rate, t_s=60.0 * n)
        for n, rate in enumerate([2000.0, 3000.0, 1000.0, 2000.0])
    ]
    assert [decision.target for decision in follow(Ds2(activation=3), script)[0]] == [4, 4, 3, 5]
    assert [decision.target for decision in follow(Ds2(activation=2, warm_up=1), script)[0]] == [
        4,
        4,
        3,
        5,
    ]


def test_an_epoch_lasts_the_configured_interval():
    script = [two_stages(rate=2000.0, t_s=5.0 * n) for n in range(5)]
    assert [decision.target for decision in follow(Ds2(interval_s=10.0), script)[0]] == [
        5,
        4,
        5,
        4,
        5,
    ]


@pytest.mark.parametrize(
    "given",
    [
        {"read": "mean"},
        {"factor": -0.1},
        {"fixed_s": -1.0},
        {"warm_up": -2},
        {"dead_band": -3},
        {"activation": 0},
        {"interval_s": -4.0},
    ],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        create("ds2", given)
