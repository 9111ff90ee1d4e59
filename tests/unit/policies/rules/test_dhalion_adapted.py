import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.policies.rules.dhalion_adapted import DhalionAdapted
from rheostat.testing.contracts import follow


def late(n: int, t_s: float | None = None, **signals: object) -> Observation:
    """Return a moment with 6000 rows/s arriving, 4000 processed and 3000 reaching the sink."""
    known = {
        "executors": 4,
        "lag_s": 8.0,
        "lag_rows": 50_000.0 + 10_000 * n,
        "input_rows_per_s": 6000.0,
        "processed_rows_per_s": 4000.0,
        "output_rows_per_s": 3000.0,
        "cpu": 0.95,
        "backpressure_ms_per_s": 600.0,
    }
    return Observation(t_s=5.0 * n if t_s is None else t_s, **{**known, **signals})  # type: ignore[arg-type]


def idle(t_s: float = 0.0, **signals: object) -> Observation:
    known = {
        "executors": 8,
        "lag_s": 0.5,
        "lag_rows": 500.0,
        "input_rows_per_s": 1000.0,
        "cpu": 0.3,
        "backpressure_ms_per_s": 0.0,
    }
    return Observation(t_s=t_s, **{**known, **signals})  # type: ignore[arg-type]


@pytest.mark.parametrize(("throughput", "target"), [("sink", 10), ("source", 8)])
def test_scale_out_is_input_over_throughput_plus_a_fifth(throughput, target):
    decisions, _ = follow(DhalionAdapted(throughput=throughput), [late(n) for n in range(3)])
    assert [decision.target for decision in decisions] == [
        4,
        target,
        target,
    ]  # 4 x 6000 / 3000 x 1.2 = 9.6; by 4000: 7.2


@pytest.mark.parametrize(
    "signals",
    [
        {"lag_s": 5.0},
        {"lag_rows": 90_000.0},
        {"output_rows_per_s": None},
        {"output_rows_per_s": 0.0},
        {"lag_s": None},
    ],
)
def test_scale_out_needs_growing_lag_and_a_throughput(signals):
    assert {
        decision.target
        for decision in follow(DhalionAdapted(), [late(n, **signals) for n in range(9)])[0]
    } == {4}


def test_a_low_arrival_rate_never_scales_in_a_late_job():
    assert (
        follow(DhalionAdapted(), [late(n, input_rows_per_s=1000.0) for n in range(3)])[0][-1].target
        == 4
    )


@pytest.mark.parametrize(("executors", "target"), [(8, 6), (5, 4), (10, 8), (4, 3), (2, 1), (1, 1)])
def test_scale_in_removes_a_fifth_rounded_down(executors, target):
    assert DhalionAdapted().decide(idle(executors=executors), {})[0].target == target


@pytest.mark.parametrize(
    "signals",
    [
        {"backpressure_ms_per_s": 100.0},
        {"lag_s": 5.0},
        {"cpu": 0.6},
        {"cpu": None},
        {"backpressure_ms_per_s": None},
        {"lag_s": None},
    ],
)
def test_scale_in_needs_all_three_signals_below_their_thresholds(signals):
    assert DhalionAdapted().decide(idle(**signals), {})[0].target == 8


def test_draining_executors_do_not_cause_a_scale_out():
    assert DhalionAdapted().decide(idle(executors=16, target=8), {})[0].target == 8


def test_late_batches_replace_missing_backpressure():
    assert (
        DhalionAdapted()
        .decide(idle(backpressure_ms_per_s=None, batch_s=0.5, trigger_s=1.0), {})[0]
        .target
        == 6
    )
    assert (
        DhalionAdapted()
        .decide(idle(backpressure_ms_per_s=None, batch_s=1.2, trigger_s=1.0), {})[0]
        .target
        == 8
    )


@pytest.mark.parametrize(("after_s", "target"), [(105.0, 6), (119.0, 6), (120.0, 4)])
def test_decisions_pause_for_two_minutes_after_a_rescale(after_s, target):
    _, memory = follow(DhalionAdapted(), [idle(), idle(10.0, executors=6)])
    decision, _ = DhalionAdapted().decide(idle(after_s, executors=6), memory)
    assert decision.target == target
    assert (decision.reason == f"cooling down for {120.0 - after_s:.0f} s more") == (target == 6)


@pytest.mark.parametrize(
    "given",
    [
        {"latency_threshold_s": 0.0},
        {"factor": -1.0},
        {"scale_down": 1.0},
        {"throughput": "both"},
        {"window_s": 0.0},
    ],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        DhalionAdapted(**given)
