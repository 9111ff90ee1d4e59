import pytest

from rheostat.model import Observation
from rheostat.signals.batch_ratio import suspended_share
from rheostat.signals.true_rates import utilization


@pytest.mark.parametrize(
    ("idle", "busy", "backpressure", "varga", "koper"),
    [
        (0.3, 0.5, 200.0, 0.5, 0.7),  # Flink 1.14: idle, busy and backpressured are separate
        (0.3, None, 200.0, 0.5, 0.7),
        (None, 0.5, 200.0, 0.5, 0.7),
        (0.3, 0.7, None, 0.7, 0.7),  # Spark: no backpressure
        (None, 0.7, None, 0.7, 0.7),
        (0.0, None, 1200.0, 0.0, 1.0),
        (None, None, 200.0, None, None),
    ],
)
def test_backpressured_time_is_idle_for_varga_and_busy_for_koper(
    idle, busy, backpressure, varga, koper
):
    observation = Observation(t_s=0.0, idle=idle, busy=busy, backpressure_ms_per_s=backpressure)
    expected = [None if share is None else pytest.approx(share) for share in (varga, koper)]
    assert [utilization(observation, "varga"), utilization(observation, "koper")] == expected


@pytest.mark.parametrize(
    ("signals", "share"),
    [
        ({"backpressure_ms_per_s": 200.0, "batch_s": 9.0, "trigger_s": 1.0}, 0.2),
        ({"backpressure_ms_per_s": 1500.0}, 1.0),
        ({"batch_s": 1.25, "trigger_s": 1.0}, 0.2),
        ({"batch_s": 0.8, "trigger_s": 1.0}, 0.0),
        (
            {"batch_s": 10.0, "trigger_s": 0.0},
            0.5,
        ),  # back to back: half the objective of 10 s replaces the interval
        ({"batch_s": 0.0, "trigger_s": 1.0}, 0.0),
        ({}, None),
    ],
)
def test_a_late_batch_suspends_the_intake_like_backpressure(signals, share):
    assert suspended_share(Observation(t_s=0.0, **signals), 10.0) == (
        None if share is None else pytest.approx(share)
    )
