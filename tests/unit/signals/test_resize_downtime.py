from typing import Any

import pytest

from rheostat.model import Observation
from rheostat.signals.last_resize import learn_downtimes, predicted_downtime_s


def learn(
    *script: tuple[float, int | None, float | None], keep: int = 10, rate: float = 100.0
) -> dict[str, Any]:
    """Process (t_s, executors, lag_rows) at 100 rows/s; a disturbance settles within 30 s."""
    memory: dict[str, Any] = {}
    for t_s, executors, lag in script:
        memory = learn_downtimes(
            Observation(t_s=t_s, executors=executors, lag_rows=lag, input_rows_per_s=rate),
            memory,
            30.0,
            keep,
        )
    return memory


def test_downtime_is_the_added_lag_in_seconds_of_arrivals():
    memory = learn(
        (0.0, 4, 50.0), (10.0, 5, 250.0), (20.0, 5, 850.0), (30.0, 5, 100.0), (40.0, 5, 100.0)
    )
    assert memory["downtimes_s"] == [8.0]  # (850 - 50) / 100
    assert memory["disturbance"] is None


def test_a_downtime_ends_when_it_settles_or_at_the_next_change():
    memory = learn((0.0, 4, 0.0), (10.0, 5, 300.0), (20.0, 6, 700.0))
    assert memory["downtimes_s"] == [3.0]
    assert memory["disturbance"]["most_s"] == 4.0


def test_a_change_without_disturbance_has_zero_downtime():
    assert learn((0.0, 4, 50.0), (10.0, 3, 20.0), (40.0, 3, 10.0))["downtimes_s"] == [0.0]


def test_missing_signals_neither_start_nor_extend_a_disturbance():
    assert learn((0.0, 4, None), (10.0, 5, 300.0))["disturbance"] is None
    assert (
        learn((0.0, 4, 0.0), (5.0, None, 0.0), (10.0, 5, 300.0), (20.0, 5, None))["disturbance"][
            "most_s"
        ]
        == 3.0
    )
    assert learn((0.0, 4, 0.0), (5.0, None, None), (10.0, 4, 300.0))["disturbance"] is None


def test_a_clock_set_back_discards_the_disturbance():
    memory = learn((1000.0, 4, 0.0), (1010.0, 5, 300.0), (0.0, 5, 500.0))
    assert (memory["downtimes_s"], memory["disturbance"]) == ([], None)


def test_only_the_latest_downtimes_are_kept():
    script = [(40.0 * n, 4 + n % 2, 0.0 if n == 0 else 100.0 * n) for n in range(8)]
    assert len(learn(*script, keep=3)["downtimes_s"]) == 3


@pytest.mark.parametrize(
    ("quantile", "expected"), [(0.0, 1.0), (0.5, 3.0), (0.9, 4.0), (1.0, 20.0)]
)
def test_the_prediction_is_a_quantile_of_observed_downtimes(quantile, expected):
    assert (
        predicted_downtime_s({"downtimes_s": [3.0, 1.0, 20.0, 4.0, 2.0]}, quantile, 10.0)
        == expected
    )


def test_without_observed_downtimes_the_default_is_predicted():
    assert predicted_downtime_s({}, 0.9, 10.0) == 10.0
