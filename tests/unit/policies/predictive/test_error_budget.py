import math
from dataclasses import replace

import pytest

from rheostat.model import Observation
from rheostat.policies.predictive.learning import with_late_rows
from rheostat.policies.predictive.situation import error_budget
from rheostat.policies.predictive.state import State
from rheostat.tuning import TUNING


def budget_after(seconds: int, latency_s: float = 1.0) -> tuple[float, float]:
    """Return how many rows of a job of 100 rows/s may still be late after ``seconds``."""
    state = State()
    for t_s in range(0, seconds + 1, 5):
        now = Observation(
            t_s=float(t_s),
            executors=2,
            input_rows_per_s=100.0,
            batch_rows=100,
            latency_s=latency_s,
        )
        state = replace(with_late_rows(state, now, slo_s=10.0), newest_s=now.t_s)
    return error_budget(state, TUNING)


def test_a_long_running_job_may_have_eight_percent_late_in_five_minutes() -> None:
    assert budget_after(6 * 3600) == pytest.approx((0.008, 0.08))


def test_a_young_job_has_a_small_five_minute_budget() -> None:
    _, window = budget_after(60)
    assert 0.008 < window < 0.012


def test_the_five_minute_budget_grows_with_the_age_of_the_job() -> None:
    windows = [budget_after(seconds)[1] for seconds in (60, 300, 900, 3600, 4 * 3600)]
    assert windows == sorted(windows)
    assert not math.isclose(windows[0], windows[-1])


def test_the_budget_is_zero_if_all_rows_were_late() -> None:
    assert budget_after(600, latency_s=30.0) == (0.0, 0.0)
