import pytest

from rheostat.errors import BadInput
from rheostat.guards import Undo
from rheostat.model import Decision, Memory, Observation


def run(
    rate_after: float,
    lag_after: float,
    *,
    lag_before: float = 20.0,
    ticks: int = 60,
    requested: int = 6,
) -> list[Decision]:
    """Return the decisions for a job of 3 executors that requests 6 after a minute (10 s ticks) and
    gets what the guard allows at once."""
    memory: Memory = {}
    size, decisions = 3, []
    for n in range(ticks):
        rate, lag = (1000.0, lag_before) if size == 3 else (rate_after, lag_after)
        observation = Observation(
            t_s=10.0 * n, executors=size, target=size, processed_rows_per_s=rate, lag_s=lag
        )
        decision, memory = Undo()(
            Decision(target=3 if n < 6 else requested, reason="asked"),
            observation,
            memory,
            10.0 * n,
        )
        size = decision.target
        decisions.append(decision)
    return decisions


def sizes(decisions: list[Decision]) -> list[int]:
    return [decision.target for decision in decisions]


def test_an_ineffective_scale_out_is_undone_and_blocked_for_ten_minutes():
    targets = sizes(run(1000.0, 20.0, ticks=100))
    changes = [(10 * n, size) for n, size in enumerate(targets) if n and size != targets[n - 1]]
    assert changes == [(60, 6), (240, 3), (840, 6)]


@pytest.mark.parametrize(
    ("rate", "lag"),
    [
        (1400.0, 20.0),  # 40 % of the expected gain of three more executors
        (1000.0, 15.0),  # lag fell by a quarter
        (1000.0, 4.0),  # no row waits
    ],
)
def test_an_effective_scale_out_is_kept(rate, lag):
    assert set(sizes(run(rate, lag))[6:]) == {6}


def test_a_scale_out_without_lag_is_not_a_failure():
    assert set(sizes(run(1000.0, 0.5, lag_before=0.5))[6:]) == {6}


def test_an_ineffective_scale_out_in_two_steps_is_undone_completely():
    memory: Memory = {}
    size = 3
    for n in range(40):
        observation = Observation(
            t_s=10.0 * n, executors=size, target=size, processed_rows_per_s=1000.0, lag_s=20.0
        )
        wanted = Decision(target=3 if n < 6 else 6 if n < 12 else 9, reason="asked")
        decision, memory = Undo()(wanted, observation, memory, 10.0 * n)
        size = decision.target
        assert size == (3 if n < 6 else 6 if n < 12 else 9 if n < 30 else 3)


def test_the_reason_names_the_hold_time():
    assert run(1000.0, 20.0)[24].reason == "asked; more than 3 did not help, for 600 s not again"


def test_smaller_sizes_are_not_blocked():
    assert sizes(run(1000.0, 20.0, requested=2))[-1] == 2


@pytest.mark.parametrize("absent", ["processed_rows_per_s", "lag_s"])
def test_without_signals_nothing_is_undone(absent):
    memory: Memory = {}
    size = 3
    for n in range(60):
        signals = {"processed_rows_per_s": 1000.0, "lag_s": 20.0, absent: None}
        observation = Observation(t_s=10.0 * n, executors=size, target=size, **signals)  # type: ignore[arg-type]
        decision, memory = Undo()(
            Decision(target=3 if n < 6 else 6, reason="asked"), observation, memory, 10.0 * n
        )
        size = decision.target
    assert size == 6


@pytest.mark.parametrize(
    "options", [{"after_s": 0.0}, {"gain": -1.0}, {"lag_s": -2.0}, {"hold_s": 0.0}]
)
def test_an_invalid_setting_is_rejected(options):
    with pytest.raises(BadInput, match=next(iter(options))):
        Undo(**options)
