"""The guards that options configure."""

import pytest

from rheostat.config import GuardOptions, LoopOptions
from rheostat.errors import BadInput
from rheostat.guards import (
    Budget,
    Cooldown,
    ExcludedPeriods,
    OverProvisioning,
    Schedule,
    Stabilization,
    StaleData,
    StepLimits,
    Undo,
    guards_of,
)
from rheostat.model import Limits

LIMITS = Limits(min_executors=2, max_executors=9)


def guard_names(*given: object, **options: object) -> list[str]:
    return [rule.name for rule in guards_of(LIMITS, GuardOptions(**options), *given)]  # type: ignore[arg-type]


def test_default_guards_are_active_without_options():
    assert guard_names(LoopOptions()) == [
        "stale_data",
        "reversal",
        "cooldown",
        "receiver_room",
        "real_time",
        "bounds",
    ]
    assert "reversal" not in guard_names(LoopOptions(reversal_hold_s=0.0))


def test_recordings_have_no_cooldown():
    assert guard_names() == ["stale_data", "receiver_room", "real_time", "bounds"]


def test_loop_options_configure_cooldown_and_stale_data():
    guards = guards_of(
        LIMITS,
        GuardOptions(),
        LoopOptions(cooldown_out_s=1.0, cooldown_in_s=2.0, stale_after_s=3.0),
    )
    assert Cooldown(out_s=1.0, in_s=2.0) in guards
    assert StaleData(after_s=3.0) in guards


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"over_provisioning": 0.3}, OverProvisioning(0.3)),
        ({"stabilization_in_s": 60.0}, Stabilization(out_s=0.0, in_s=60.0)),
        ({"stabilization_out_s": 30.0}, Stabilization(out_s=30.0, in_s=0.0)),
        ({"undo": True}, Undo()),
        ({"step_out": 2}, StepLimits(out=2)),
        ({"step_in": 1}, StepLimits(in_=1)),
        ({"budget": 24.0}, Budget(slot_hours=24.0, keep=2)),
        ({"excluded": "08:00-09:00"}, ExcludedPeriods("08:00-09:00")),
        ({"floor": "Mon = 4"}, Schedule(floor="Mon = 4")),
        ({"ceiling": ["Mon = 4", "Tue = 5"]}, Schedule(ceiling="Mon = 4; Tue = 5")),
    ],
)
def test_an_option_enables_its_guard(options, expected):
    assert expected in guards_of(LIMITS, GuardOptions(**options), LoopOptions())
    assert expected not in guards_of(LIMITS, GuardOptions(), LoopOptions())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over_provisioning": -0.1}, "-0.1"),
        ({"stabilization_in_s": float("nan")}, "nan"),
        ({"step_out": -2}, "-2"),
        ({"budget": -1.0}, "-1.0"),
        ({"excluded": "noon"}, "'noon'"),
    ],
)
def test_an_option_out_of_range_is_rejected_with_its_value(options, message):
    with pytest.raises(BadInput, match=message):
        guards_of(LIMITS, GuardOptions(**options))
