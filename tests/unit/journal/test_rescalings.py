"""What counts as a rescaling, and the text of its reason."""

from __future__ import annotations

import pytest

from rheostat.journal.events import allowances, reason_of, rescalings
from rheostat.model import Decision, GuardChange, Observation, Record, Rescaling


def record(
    t_s: float,
    target: int | None,
    phase: str = "steady",
    *,
    executors: int | None = 2,
    guards: tuple[GuardChange, ...] = (),
    wanted: int | None = None,
) -> Record:
    decided = target if wanted is None else wanted
    return Record(
        t_s=t_s,
        observation=Observation(t_s=t_s, executors=executors),
        queries=(),
        raw=None
        if decided is None
        else Decision(target=decided, reason="load", evidence={"rate": 7}),
        guards=guards,
        target=target,
        actions=(),
        rescaling=Rescaling(phase=phase, detail="the journal is full"),
    )


def test_every_target_change_is_one_rescaling() -> None:
    changes = rescalings([record(0, 2), record(1, 6), record(2, 6), record(3, 1)])
    assert [(change.t_s, change.before, change.after) for change in changes] == [
        (1, 2, 6),
        (3, 6, 1),
    ]
    assert changes[0].reason == "wanted 6: load"


@pytest.mark.parametrize("phase", ["advised", "halted", "idle"])
def test_decisions_that_are_not_executed_are_not_rescalings(phase: str) -> None:
    changes = rescalings([record(0, 2), record(1, 8, phase), record(2, 3)])
    assert [(change.before, change.after) for change in changes] == [(2, 3)]


def test_the_first_size_is_the_actual_one_and_unknown_sizes_are_ignored() -> None:
    assert [change.before for change in rescalings([record(0, 3)])] == [2]
    assert rescalings([record(0, 3, executors=None), record(1, None)]) == []


def test_a_reason_names_every_guard_with_its_own_text_only() -> None:
    guards = (
        GuardChange(guard="budget", before=9, after=6, reason="load; 40 slot-hours are left"),
        GuardChange(
            guard="bounds", before=6, after=4, reason="load; 40 slot-hours are left; at most 4"
        ),
    )
    limited = record(0, 4, guards=guards, wanted=9)
    assert [why for _, why in allowances(limited)] == [
        "budget: 40 slot-hours are left",
        "bounds: at most 4",
    ]
    assert reason_of(limited) == (
        "wanted 9: load; allowed 6 (budget: 40 slot-hours are left); allowed 4 (bounds: at most 4)"
    )


def test_without_a_decision_the_rescaling_gives_the_reason() -> None:
    assert reason_of(record(0, None, "failed")) == "the journal is full"
