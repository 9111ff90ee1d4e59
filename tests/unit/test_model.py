import math

import pytest

from rheostat.config import LoopOptions
from rheostat.errors import BadInput, RheostatError
from rheostat.model import Decision, Limits, Observation, Slo, hold


@pytest.mark.parametrize(
    ("target", "executors", "size"), [(4, 2, 4), (None, 2, 2), (None, None, None), (0, 2, 0)]
)
def test_the_size_is_the_target_or_else_the_registered_executors(target, executors, size):
    assert Observation(t_s=0.0, target=target, executors=executors).size == size


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_non_finite_number_becomes_absent(broken):
    assert Observation(t_s=1.0, input_rows_per_s=broken, lag_s=2.0) == Observation(
        t_s=1.0, lag_s=2.0
    )


def test_holding_keeps_the_current_size():
    assert hold(Observation(t_s=0.0, target=4), "why", {"a": 1}) == Decision(
        target=4, reason="why", evidence={"a": 1}
    )
    assert hold(Observation(t_s=0.0), "why").target == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: Slo(latency_s=0),
        lambda: Slo(latency_s=float("nan")),
        lambda: Limits(min_executors=0),
        lambda: Limits(min_executors=5, max_executors=4),
        lambda: LoopOptions(interval_s=0),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(make):
    with pytest.raises(BadInput) as refused:
        make()
    assert "\n" not in str(refused.value)
    assert (refused.value.exit_code, RheostatError.exit_code) == (2, 1)


def test_an_observation_is_a_value():
    assert Observation(t_s=1.0, lag_rows=2.0) == Observation(t_s=1.0, lag_rows=2.0)
    with pytest.raises(AttributeError):
        Observation(t_s=1.0).t_s = 2.0  # type: ignore[misc]
