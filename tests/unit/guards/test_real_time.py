from __future__ import annotations

import pytest

from rheostat.guards import RealTime
from rheostat.model import Decision, Observation


def observed(
    slots: int | None, executors: int = 3, real_time_s: float | None = 300.0
) -> Observation:
    return Observation(
        t_s=0.0,
        executors=executors,
        slots_per_executor=4,
        real_time_s=real_time_s,
        real_time_slots=slots,
    )


def target(wanted: int, observation: Observation, memory: dict[str, int] | None = None) -> int:
    decision = Decision(target=wanted, reason="quiet")
    return RealTime()(decision, observation, memory or {}, 0.0)[0].target


@pytest.mark.parametrize(
    ("wanted", "slots", "expected"), [(1, 12, 3), (1, 13, 4), (3, 20, 5), (6, 12, 6), (1, None, 3)]
)
def test_the_size_never_drops_below_the_slots_of_the_batch(
    wanted: int, slots: int | None, expected: int
) -> None:
    assert target(wanted, observed(slots)) == expected


def test_the_last_slot_count_applies_between_batches() -> None:
    decision = Decision(target=1, reason="quiet")
    first, memory = RealTime()(decision, observed(20), {}, 0.0)
    second, _ = RealTime()(decision, observed(None), memory, 1.0)
    assert (first.target, second.target) == (5, 5)
    assert first.reason == "quiet; a query in real-time mode holds 20 slots until a batch ends"


def test_other_triggers_are_unaffected() -> None:
    assert target(1, observed(20, real_time_s=None)) == 1
