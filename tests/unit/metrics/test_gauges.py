"""The gauges of an application over time."""

from typing import Any

import pytest

from rheostat.config import MetricOptions
from rheostat.metrics.record_metrics import observed_gauges
from rheostat.model import Observation


@pytest.mark.parametrize("jump_s", [-3600.0, 3600.0, -20.0])
def test_a_clock_jump_restarts_the_windows_without_invented_values(jump_s):
    """Lag grows by 100 rows/s and 200 are consumed: eq. 3 is 1.5, or absent, never anything else.

    If the clock is set back by less than the window, the slope in that window is only as exact as
    its samples."""
    kept: Any = {}
    changes = []
    t_s = 1e9
    for n in range(60):
        t_s += 5.0 + (jump_s if n == 30 else 0.0)
        observation = Observation(
            t_s=t_s, executors=2, lag_rows=60_000.0 + 500.0 * n, processed_rows_per_s=200.0
        )
        gauges, kept = observed_gauges(MetricOptions(), observation, kept)
        changes.append(gauges.get("relative_lag_change"))
    right = pytest.approx(1.5)
    assert changes[29] == right
    if abs(jump_s) > MetricOptions().window_s:
        assert changes[30] is None
        assert all(change == right for change in changes[31:])
    assert all(change == right for change in changes[45:])


@pytest.mark.parametrize(("up", "value"), [(True, 1.0), (False, 0.0), (None, None)])
def test_broker_availability_is_a_gauge(up: bool | None, value: float | None) -> None:
    shown, _ = observed_gauges(MetricOptions(), Observation(t_s=1e9, broker_up=up), {})
    assert shown.get("broker_up") == value
