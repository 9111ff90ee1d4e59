import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.guards import Budget
from rheostat.model import Decision, Memory, Observation

DAY_S = 86_400.0


def day(
    rule: Budget,
    requested: list[int],
    *,
    step_s: float = 600.0,
    slots: int = 1,
    start_s: float = 0.0,
) -> tuple[list[int], float]:
    """Return the sizes and the slot-hours used if each decision takes effect at once."""
    memory: Memory = {}
    size, sizes = 1, []
    for n, target in enumerate(requested):
        now = start_s + n * step_s
        observation = Observation(t_s=now, executors=size, slots_per_executor=slots)
        decision, memory = rule(Decision(target=target, reason="asked"), observation, memory, now)
        size = decision.target
        sizes.append(size)
    return sizes, sum(sizes) * slots * step_s / 3600


def test_an_affordable_size_is_not_changed():
    assert day(Budget(slot_hours=240.0), [10] * 143)[0] == [10] * 143


def test_a_peak_is_reduced_to_save_budget_for_the_day():
    sizes, used = day(Budget(slot_hours=48.0), [10] * 144)
    assert sizes[0] == 10
    assert sizes[-1] >= 1
    assert 40.0 < used <= 48.0


def test_the_reason_names_the_remaining_budget():
    observation = Observation(t_s=43_200.0, executors=10, slots_per_executor=2)
    decision, _ = Budget(slot_hours=50.0)(
        Decision(target=9, reason="asked"),
        observation,
        {"t_s": 43_200.0, "used_slot_s": 90_000.0},
        43_200.0,
    )
    assert (
        decision.target == 1
    )  # 25 slot-hours are left, 22 of them keep one executor of two slots for the last 11 hours
    assert decision.reason == "asked; 25.0 of 50 slot-hours used today pay for 1"


def test_the_budget_restarts_at_midnight():
    observation = Observation(t_s=DAY_S + 60.0, executors=4)
    _, memory = Budget(slot_hours=50.0)(
        Decision(target=9, reason="asked"),
        observation,
        {"t_s": DAY_S - 60.0, "used_slot_s": 9e9},
        DAY_S + 60.0,
    )
    assert memory == {"t_s": DAY_S + 60.0, "used_slot_s": 240.0}


def test_a_clock_set_back_uses_no_budget():
    observation = Observation(t_s=60.0, executors=4)
    _, memory = Budget(slot_hours=50.0)(
        Decision(target=9, reason="asked"), observation, {"t_s": 3600.0, "used_slot_s": 100.0}, 60.0
    )
    assert memory["used_slot_s"] == 100.0


@settings(max_examples=25, deadline=None)
@given(
    requested=st.lists(st.integers(1, 40), min_size=48, max_size=48),
    slot_hours=st.floats(30.0, 400.0),
)
def test_usage_never_exceeds_the_daily_budget(requested, slot_hours):
    sizes, used = day(Budget(slot_hours=slot_hours), requested, step_s=1800.0)
    assert used <= slot_hours + 1e-6
    assert min(sizes) >= 1


@pytest.mark.parametrize(
    "options",
    [{"slot_hours": 0.0}, {"slot_hours": 9.0, "keep": -1}, {"slot_hours": 9.0, "ahead_s": -2.0}],
)
def test_an_invalid_budget_is_rejected(options):
    with pytest.raises(BadInput, match=str(list(options.values())[-1])):
        Budget(**options)
