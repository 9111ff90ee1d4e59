from typing import Any

import numpy as np
import pytest

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.policies.rates.conttune import ContTune
from rheostat.policies.registry import create
from rheostat.testing.contracts import follow

MEASURED = {
    1: 529573,
    2: 966817,
    4: 1829696,
    6: 2535503,
    7: 2936889,
    8: 3118478,
    10: 3721099,
    14: 4624714,
    15: 4967828,
    20: 6350677,
}
"""Rows per second of Nexmark q1 by parallelism, as measured by ContTune's authors."""


def observation(
    executors: int, rate: float, lag_s: float = 0.5, ability: float | None = None, **signals: Any
) -> Observation:
    ability = ability or float(np.interp(executors, list(MEASURED), list(MEASURED.values())))
    usual: dict[str, Any] = {"processed_rows_per_s": ability / 2, "busy": 0.5}
    return Observation(
        t_s=0.0, executors=executors, input_rows_per_s=rate, lag_s=lag_s, **{**usual, **signals}
    )


def steps(rate: float, policy: ContTune) -> list[int]:
    """Return the sizes, starting with one executor, until they no longer change."""
    sizes: list[int] = [1]
    memory: Any = {}
    while len(sizes) < 20:
        decision, memory = policy.decide(observation(sizes[-1], rate), memory)
        if decision.target == sizes[-1]:
            break
        sizes.append(decision.target)
    return sizes


@pytest.mark.parametrize(("rate", "last"), [(2e6, 5), (4e6, 12), (6e6, 19)])
def test_the_measured_curve_converges_to_the_smallest_sufficient_size(rate, last):
    sizes = steps(rate, ContTune())
    assert abs(sizes[-1] - last) <= 1
    assert len(sizes) <= 5


def test_the_first_small_step_matches_ds2():
    decision = ContTune(alpha=20).decide(observation(1, 2e6), {})[0]
    assert decision.target == decision.evidence["ds2"] == 4


def test_a_size_far_from_measured_ones_matches_ds2():
    decision = ContTune().decide(observation(1, 4e6), {})[0]
    assert (decision.target, decision.reason) == (
        8,
        "DS2's step: no measured size within 3: 8 executors needed for 4,000,000 rows/s",
    )


def test_the_fitted_curve_decides_between_measured_sizes():
    memory = {"abilities": {str(p): [float(MEASURED[p])] for p in (6, 8, 10, 14, 15)}}
    # From 8 on, DS2's line predicts 11 for 4.2 M rows/s; measured are 3.7 M at 10 and 4.6 M at 14.
    decision = ContTune().decide(observation(8, 4.2e6), memory)[0]
    assert (decision.target, decision.evidence["ds2"]) == (13, 11)
    assert decision.reason.startswith("small step")


def test_a_backlog_takes_a_big_step_and_never_scales_in():
    decision = ContTune().decide(observation(4, 2e6, lag_s=6.0), {})[0]
    assert (decision.target, decision.evidence["ds2"]) == (8, 5)  # 1.5 x 5 = 7.5
    assert ContTune().decide(observation(20, 1e6, lag_s=6.0), {})[0].target == 20


def test_recent_measurements_are_averaged_and_old_sizes_dropped():
    script = [observation(2, 1000.0, ability=float(n)) for n in range(100, 1001, 100)]
    _, memory = follow(ContTune(samples=3), script)
    assert memory["abilities"] == {"2": [800.0, 900.0, 1000.0]}
    _, memory = follow(
        ContTune(sizes=2), [observation(n, 1000.0, ability=1000.0) for n in (1, 2, 1, 3)]
    )
    assert list(memory["abilities"]) == ["1", "3"]


def test_an_unknown_capacity_keeps_the_size():
    assert ContTune().decide(observation(4, 2e6, busy=None), {})[0].target == 4


@pytest.mark.parametrize(
    "given",
    [
        {"alpha": -1},
        {"big": 0.5},
        {"length": 0.0},
        {"noise": -0.1},
        {"samples": 0},
        {"backlog_s": -2.0},
    ],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        create("conttune", given)
