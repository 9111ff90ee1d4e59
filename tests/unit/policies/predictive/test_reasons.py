"""The reasons of ``predictive`` state what was compared, in rows."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from rheostat.capacity.rollout import RolloutResult
from rheostat.policies.predictive import policy
from rheostat.policies.predictive.reasons import Compared, compared

AT = cast(
    "Any",
    SimpleNamespace(
        slots=1, rate=100.0, back_s=20.0, tolerated_rows=10.0, aim_s=8.0, is_attainable=True
    ),
)
PRESENT = {
    "size": 3,
    "smaller": [],
    "horizon_s": 60.0,
    "rescale_cost": 30.0,
    "now": SimpleNamespace(lag_rows=0.0),
    "forecast": SimpleNamespace(p90=()),
}


def test_late_rows_in_surges_are_stated_as_rows_and_not_as_a_share_above_one() -> None:
    sizes = [Compared(8, 1000.0, 2.645), Compared(1, 2000.0, 2.7)]
    assert compared(AT, sizes, 300.0, {}) == (
        "8 executors: 2,400 slot-seconds, 1,000 late rows within 300 s, 5,290 expected in surges;"
        " 1 executor: 300 slot-seconds, 2,000 late rows, 5,400 expected in surges"
    )


def test_rows_that_wait_at_the_end_are_not_called_late() -> None:
    text = compared(AT, [Compared(2, 500.0)], 300.0, {}, "late rows or rows still waiting")
    assert text == (
        "2 executors: 600 slot-seconds, 500 late rows or rows still waiting within 300 s"
    )


def test_late_rows_of_the_present_size_that_more_executors_can_still_avoid_are_stated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def on_path(at: Any, path: Any, target: int, until_s: float) -> RolloutResult:
        late_rows = 500.0 if until_s == at.horizon_s else 0.0
        return RolloutResult(late_rows=late_rows, rows=9000.0, violation_s=40.0)

    at = cast("Any", SimpleNamespace(**vars(AT), **PRESENT))
    monkeypatch.setattr(policy, "on_path", on_path)
    decision = policy._scale_in(at, {})
    assert decision.target == 3
    assert decision.evidence["late_rows_chosen"] == 500
    assert decision.reason == (
        "size kept; 3 executors: 180 slot-seconds, 500 late rows within 60 s;"
        " more can still start in time; no smaller size is faster"
    )
