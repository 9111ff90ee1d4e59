from collections.abc import Mapping
from typing import Any

import pytest

from rheostat.actions import Action, ReplaceExecutor
from rheostat.errors import BadInput
from rheostat.guards import (
    Bounds,
    Budget,
    Cooldown,
    ExcludedPeriods,
    OverProvisioning,
    Schedule,
    Stabilization,
    StaleData,
    StepLimits,
    Undo,
    guard,
    standard_guards,
)
from rheostat.model import Decision, GuardChange, Limits, Observation

LIMITS = Limits(min_executors=2, max_executors=6)


def requested(target: int, *actions: Action) -> Decision:
    return Decision(target=target, reason="asked", actions=actions)


def size(executors: int | None, t_s: float = 100.0, **signals: object) -> Observation:
    return Observation(t_s=t_s, executors=executors, target=executors, **signals)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "got"), [(-3, 2), (0, 2), (1, 2), (2, 2), (4, 4), (6, 6), (7, 6), (10**9, 6)]
)
def test_bounds_clamp_the_target(wanted, got):
    decision, memory = Bounds(LIMITS)(requested(wanted), size(3), {}, 100.0)
    assert (decision.target, memory) == (got, {})


def test_bounds_name_the_limit():
    assert Bounds(LIMITS)(requested(1), size(3), {}, 0.0)[0].reason == "asked; min executors is 2"
    assert Bounds(LIMITS)(requested(9), size(3), {}, 0.0)[0].reason == "asked; max executors is 6"


def since(changed_s: float) -> dict[str, object]:
    return {"changed_s": changed_s, "seen": [changed_s, 3]}


def test_the_first_change_is_not_held_and_its_execution_starts_the_cooldown():
    decision, memory = Cooldown()(requested(5), size(3), {}, 100.0)
    assert decision == requested(5)
    decision, memory = Cooldown()(requested(7), size(5, 105.0), memory, 105.0)
    assert decision.reason == "asked; cooling down for 5 s more"
    assert memory["changed_s"] == 100.0


def test_a_request_rejected_by_the_ceiling_starts_no_cooldown():
    rules = standard_guards(LIMITS)
    memory: Mapping[str, Any] = {}
    for tick in range(6):
        guarded = guard(rules, requested(9), size(6, 5.0 * tick), memory, 5.0 * tick)
        memory = guarded.memory
        assert [change.guard for change in guarded.changes] == ["bounds"]


@pytest.mark.parametrize(("after_s", "target"), [(0.0, 3), (9.9, 3), (10.0, 5)])
def test_a_scale_out_waits_for_its_cooldown(after_s, target):
    held, _ = Cooldown(out_s=10.0)(requested(5), size(3), since(100.0), 100.0 + after_s)
    assert held.target == target


@pytest.mark.parametrize(("after_s", "target"), [(10.0, 3), (59.9, 3), (60.0, 1)])
def test_a_scale_in_waits_longer(after_s, target):
    held, _ = Cooldown(in_s=60.0)(requested(1), size(3), since(100.0), 100.0 + after_s)
    assert held.target == target


def test_cooldown_reports_the_remaining_time_and_does_not_restart():
    decision, memory = Cooldown()(requested(5), size(3, 104.0), since(100.0), 104.0)
    assert decision.reason == "asked; cooling down for 6 s more"
    assert memory["changed_s"] == 100.0


def test_a_clock_set_back_ends_the_cooldown():
    assert Cooldown()(requested(5), size(3), since(90_000.0), 100.0)[0].target == 5


def test_an_unchanged_size_starts_no_cooldown():
    for executors in (3, None):
        decision, memory = Cooldown()(requested(3), size(executors), {}, 100.0)
        assert (decision, memory["changed_s"]) == (requested(3), None)


@pytest.mark.parametrize(
    ("age_s", "target"), [(0.0, 5), (30.0, 5), (30.1, 3), (-0.1, 5), (-31.0, 3)]
)
def test_stale_observations_keep_the_size(age_s, target):
    assert (
        StaleData(after_s=30.0)(requested(5), size(3, 100.0 - age_s), {}, 100.0)[0].target == target
    )


def test_invalid_numbers_keep_the_size():
    decision, _ = StaleData()(requested(5, ReplaceExecutor("7")), size(3, lag_rows=-1.0), {}, 100.0)
    assert (decision.target, decision.actions) == (3, ())
    assert "lag_rows" in decision.reason


def test_stale_data_without_a_known_size_keeps_the_decision():
    assert StaleData()(requested(5), size(None, 0.0), {}, 100.0)[0].target == 5


def test_changing_guards_are_named_in_order():
    rules = standard_guards(LIMITS)
    guarded = guard(rules, requested(9), size(3), {"cooldown": since(0.0)}, 100.0)
    assert guarded.changes == (
        GuardChange(guard="bounds", before=9, after=6, reason="asked; max executors is 6"),
    )
    held = guard(rules, requested(9), size(8, 20.0), {"cooldown": since(99.0)}, 100.0)
    assert [(change.guard, change.before, change.after) for change in held.changes] == [
        ("stale_data", 9, 8),
        ("bounds", 8, 6),
    ]


def test_optional_guards_are_off_by_default_and_have_a_fixed_order():
    assert [rule.name for rule in standard_guards(LIMITS)] == [
        "stale_data",
        "cooldown",
        "receiver_room",
        "real_time",
        "bounds",
    ]
    every = standard_guards(
        LIMITS,
        Cooldown(),
        StaleData(),
        schedule=Schedule("Mon = 4"),
        excluded_periods=ExcludedPeriods("Mon"),
        budget=Budget(slot_hours=1.0),
        step_limits=StepLimits(),
        undo=Undo(),
        stabilization=Stabilization(),
        over_provisioning=OverProvisioning(),
    )
    order = (
        "over_provisioning stabilization undo stale_data step_limits budget"
        " excluded_periods cooldown receiver_room real_time schedule bounds"
    )
    assert [rule.name for rule in every] == order.split()


def test_the_change_of_every_guard_is_recorded():
    rules = standard_guards(
        LIMITS, over_provisioning=OverProvisioning(factor=0.5), step_limits=StepLimits(out=4)
    )
    changes = guard(rules, requested(10), size(3), {}, 100.0).changes
    assert [(change.guard, change.before, change.after) for change in changes] == [
        ("over_provisioning", 10, 15),
        ("step_limits", 15, 7),
        ("bounds", 7, 6),
    ]


def test_every_guard_has_separate_memory():
    guarded = guard(standard_guards(LIMITS), requested(5), size(3), {"bounds": {"a": 1}}, 100.0)
    assert guarded.memory == {
        "stale_data": {},
        "cooldown": {"changed_s": None, "seen": (100.0, 3)},
        "receiver_room": {},
        "real_time": {},
        "bounds": {},
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cooldown(out_s=-1), "out_s"),
        (lambda: Cooldown(in_s=-1), "in_s"),
        (lambda: StaleData(after_s=0), "after_s"),
    ],
)
def test_an_invalid_setting_is_rejected_by_name(make, message):
    with pytest.raises(BadInput, match=message):
        make()
