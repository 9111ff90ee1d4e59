from typing import Any

import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation, Stage
from rheostat.policies.rates.ds2_modern import Ds2Modern, Ds2ModernAdapted
from rheostat.policies.registry import create
from rheostat.testing.contracts import follow


def observation(
    t_s: float = 0.0,
    rate: float = 1010.0,
    executors: int = 10,
    lag_s: float | None = 0.5,
    **signals: Any,
) -> Observation:
    """Ten executors, busy half of the time, process 1000 rows/s: 10 x 0.5 x 1010 / 1000 = 5.05."""
    usual: dict[str, Any] = {"processed_rows_per_s": 1000.0, "busy": 0.5}
    return Observation(
        t_s=t_s, executors=executors, input_rows_per_s=rate, lag_s=lag_s, **{**usual, **signals}
    )


@pytest.mark.parametrize(
    ("factor", "target"), [(0.0, 6), (0.33, 8), (0.66, 10), (0.5, 9), (1.0, 12)]
)
def test_the_parallelism_is_rounded_before_and_after_the_factor(factor, target):
    # ceil(5.05) = 6; 6 x 1.33 = 7.98, 6 x 1.66 = 9.96; with one rounding 5.05 x 1.5 would be 8.
    assert Ds2Modern(factor=factor).decide(observation(), {})[0].target == target


def test_the_largest_stage_decides():
    stages = (
        Stage(name="map", upstream=("kafka",), rows_in=1000.0, rows_out=1000.0, busy_s=2.5),
        Stage(name="join", upstream=("map",), rows_in=1000.0, rows_out=10.0, busy_s=7.2),
    )
    decision = Ds2Modern().decide(observation(rate=1000.0, stages=stages), {})[0]
    assert decision.target == 8
    assert decision.reason == "2 stages: join needs 7.20 slots at 1,000 rows/s, 8 with the factor"


def test_a_recording_without_stages_is_one_operator():
    assert (
        Ds2Modern()
        .decide(observation(), {})[0]
        .reason.startswith("the job as one operator: job needs 5.05 slots")
    )


def test_decisions_pause_for_four_minutes_after_a_rescale():
    # The change to 6 was decided at 0 s; from then on 6 executors are half as busy as possible.
    script = [
        observation(0.0),
        *(
            observation(60.0 * n, executors=6, processed_rows_per_s=600.0, busy=0.1)
            for n in range(1, 6)
        ),
    ]
    decisions = follow(Ds2Modern(), script)[0]
    assert [decision.target for decision in decisions] == [6, 6, 6, 6, 2, 2]
    assert decisions[3].reason == "cooling down since 180 s"


def test_a_rejected_change_is_requested_again():
    assert [
        decision.target
        for decision in follow(Ds2Modern(), [observation(60.0 * n) for n in range(6)])[0]
    ] == [6] * 6


def test_an_unchanged_size_starts_no_pause():
    script = [observation(0.0, executors=6, rate=6000 / 0.6, busy=0.6, processed_rows_per_s=6000.0)]
    script += [observation(15.0, executors=6, processed_rows_per_s=600.0, busy=0.1)]
    assert [decision.target for decision in follow(Ds2Modern(), script)[0]] == [6, 2]


@pytest.mark.parametrize(
    ("lag_s", "rate", "target"),
    [
        (0.99, 1010.0, 6),
        (1.0, 1010.0, 10),
        (None, 1010.0, 10),
        (4.0, 1010.0, 10),
        (8.0, 1010.0, 10),
        (5.0, 3000.0, 10),
        (5.01, 3000.0, 15),
        (0.0, 3000.0, 10),
        (None, 3000.0, 10),
    ],
)
def test_the_adapted_variant_scales_out_with_lag_and_in_without(lag_s, rate, target):
    assert Ds2ModernAdapted().decide(observation(rate=rate, lag_s=lag_s), {})[0].target == target


def test_a_change_rejected_by_the_lag_starts_no_pause():
    decisions, memory = follow(
        Ds2ModernAdapted(), [observation(0.0, lag_s=2.0), observation(15.0, lag_s=0.5)]
    )
    assert [decision.target for decision in decisions] == [10, 6]
    assert "not below 1.0 s" in decisions[0].reason
    assert memory["changed_s"] is None


def test_an_unknown_busy_share_keeps_the_size():
    decision = Ds2Modern().decide(observation(busy=None), {})[0]
    assert (decision.target, "unknown" in decision.reason) == (10, True)


@pytest.mark.parametrize(
    "given",
    [
        {"factor": -0.33},
        {"cooldown_s": -1.0},
        {"down_lag_s": 6.0},
        {"up_lag_s": 0.5},
        {"down_lag_s": -2.0},
    ],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        create("ds2-modern-adapted", given)
