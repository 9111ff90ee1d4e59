"""Scheduled floors and ceilings, and periods without changes."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rheostat.config import GuardOptions, LoopOptions
from rheostat.errors import BadInput
from rheostat.guards import ExcludedPeriods, Schedule, guard, guards_of
from rheostat.guards.schedule import schedule_text
from rheostat.model import Decision, Limits, Observation

MORNING = "Mon-Fri 08:00-10:00 Europe/Budapest = 4"
NIGHT = "22:00-06:00 Europe/Budapest = 2"


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


IN_THE_MORNING, AT_NOON, AT_NIGHT = map(
    utc, ("2026-11-20T07:30", "2026-11-20T12:00", "2026-11-20T23:00")
)


def scheduled(requested: int, now: float, floor: str = MORNING, ceiling: str = NIGHT) -> Decision:
    observation = Observation(t_s=now, executors=3, target=3)
    return Schedule(floor, ceiling)(
        Decision(target=requested, reason="asked"), observation, {}, now
    )[0]


@pytest.mark.parametrize(
    ("requested", "now", "target"),
    [
        (1, IN_THE_MORNING, 4),
        (6, IN_THE_MORNING, 6),
        (1, AT_NOON, 1),
        (6, AT_NOON, 6),
        (6, AT_NIGHT, 2),
        (1, AT_NIGHT, 1),
    ],
)
def test_a_scheduled_floor_raises_and_a_scheduled_ceiling_lowers(requested, now, target):
    assert scheduled(requested, now).target == target


def test_the_largest_floor_and_smallest_ceiling_in_force_apply():
    both = "Fri = 2; 07:00-08:00 = 5; Sat = 9"
    assert scheduled(1, IN_THE_MORNING, both, "").target == 5
    assert scheduled(9, IN_THE_MORNING, "", both).target == 2


def test_the_reason_names_the_entry():
    assert scheduled(1, IN_THE_MORNING).reason == (
        "asked; the floor is 4 in Mon-Fri 08:00-10:00 Europe/Budapest"
    )


def test_a_floor_above_an_overlapping_ceiling_is_rejected():
    with pytest.raises(BadInput, match="the floor 'Mon = 4' is above the ceiling 'Mon-Wed = 3'"):
        Schedule("Mon = 4", "Mon-Wed = 3")
    assert Schedule("Mon = 3", "Mon-Wed = 3; Fri = 1")


@pytest.mark.parametrize("floor", ["Mon 8-9 = 4", "Mon = many", "Mon 08:00-09:00"])
def test_an_invalid_floor_is_rejected_with_a_valid_example(floor):
    with pytest.raises(BadInput, match="Europe/Budapest"):
        guards_of(Limits(), GuardOptions(floor=floor))


def guarded(requested: int, now: float, size: int, options: GuardOptions, **memory: object) -> int:
    rules = guards_of(Limits(min_executors=2, max_executors=6), options, LoopOptions())
    observation = Observation(t_s=now, executors=size, target=size)
    decision = Decision(target=requested, reason="asked")
    return guard(rules, decision, observation, memory, now).decision.target  # type: ignore[arg-type]


def test_limits_override_the_schedule():
    assert guarded(3, IN_THE_MORNING, 3, GuardOptions(floor="Fri = 20")) == 6
    assert guarded(3, IN_THE_MORNING, 3, GuardOptions(ceiling="Fri = 1")) == 2


def test_no_other_guard_delays_a_scheduled_floor():
    just_changed = {"cooldown": {"changed_s": IN_THE_MORNING - 1.0, "size": 3}}
    for options in (
        GuardOptions(floor="Fri = 5"),
        GuardOptions(floor="Fri = 5", step_out=1),
        GuardOptions(floor="Fri = 5", budget=0.1),
        GuardOptions(floor="Fri = 5", excluded="Fri"),
    ):
        assert guarded(3, IN_THE_MORNING, 3, options, **just_changed) == 5


def test_a_scheduled_floor_applies_to_stale_data():
    rules = guards_of(Limits(), GuardOptions(floor="Fri = 5"), LoopOptions())
    old = Observation(t_s=IN_THE_MORNING - 3600.0, executors=3, target=3)
    decision = guard(rules, Decision(target=1, reason=""), old, {}, IN_THE_MORNING).decision
    assert decision.target == 5


def test_entries_can_be_a_list():
    assert GuardOptions(floor=["Mon = 4", "Tue = 5"]).floor == "Mon = 4; Tue = 5"
    with pytest.raises(BadInput, match="floor must be a text, but it is 4"):
        GuardOptions(floor=4)  # type: ignore[arg-type]


def test_the_active_schedule_is_formatted_as_one_line():
    assert schedule_text(MORNING, NIGHT, IN_THE_MORNING) == (
        "floor 4 until 2026-11-20 10:00 (Mon-Fri 08:00-10:00 Europe/Budapest)"
    )
    assert schedule_text(MORNING, NIGHT, AT_NIGHT).startswith("ceiling 2 until 2026-11-21 06:00")
    assert schedule_text(MORNING, NIGHT, AT_NOON) == "no scheduled floor or ceiling at this time"
    assert schedule_text("", "", AT_NOON) == ""


def test_the_schedule_is_stored_in_memory():
    _, memory = Schedule(MORNING, NIGHT)(
        Decision(target=3, reason=""), Observation(t_s=AT_NOON, executors=3), {}, AT_NOON
    )
    assert schedule_text(**memory, now=AT_NIGHT).startswith("ceiling 2")


@pytest.mark.parametrize(("now", "target"), [(IN_THE_MORNING, 3), (AT_NOON, 9)])
def test_the_size_is_kept_in_excluded_periods(now, target):
    decision, _ = ExcludedPeriods("Mon-Fri 08:00-10:00 Europe/Budapest")(
        Decision(target=9, reason="asked"), Observation(t_s=now, executors=3), {}, now
    )
    assert decision.target == target
    if target == 3:
        assert decision.reason == (
            "asked; size kept: no changes in Mon-Fri 08:00-10:00 Europe/Budapest"
        )
