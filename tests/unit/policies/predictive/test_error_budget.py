import math
from dataclasses import replace

import pytest

from rheostat.model import Observation
from rheostat.policies.predictive.error_budget import error_budget, with_late_rows
from rheostat.policies.predictive.state import State
from rheostat.policies.predictive.tuning import Tuning


def after(seconds: int, latency_s: float = 1.0) -> tuple[float, float]:
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
    return error_budget(state, Tuning())


def test_in_an_old_job_eight_in_a_hundred_rows_of_five_minutes_may_be_late() -> None:
    assert after(6 * 3600) == pytest.approx((0.008, 0.08))


def test_in_a_young_job_the_five_minutes_may_have_little_more_late_than_the_whole() -> None:
    _, window = after(60)
    assert 0.008 < window < 0.012


def test_the_older_a_job_the_more_of_five_minutes_may_be_late() -> None:
    windows = [after(seconds)[1] for seconds in (60, 300, 900, 3600, 4 * 3600)]
    assert windows == sorted(windows)
    assert not math.isclose(windows[0], windows[-1])


def test_nothing_more_may_be_late_where_all_rows_were() -> None:
    assert after(600, latency_s=30.0) == (0.0, 0.0)
