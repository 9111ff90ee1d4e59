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
    asked: int = 6,
) -> list[Decision]:
    """Return the decisions for a job of 3 executors that requests 6 after a minute (10 s ticks) and
    gets what the guard allows at once."""
    memory: Memory = {}
    size, decisions = 3, []
    for n in range(ticks):
        rate, lag = (1000.0, lag_before) if size == 3 else (rate_after, lag_after)
        seen = Observation(
            t_s=10.0 * n, executors=size, target=size, processed_rows_per_s=rate, lag_s=lag
        )
        decision, memory = Undo()(
            Decision(target=3 if n < 6 else asked, reason="asked"), seen, memory, 10.0 * n
        )
        size = decision.target
        decisions.append(decision)
    return decisions


def sizes(decisions: list[Decision]) -> list[int]:
    return [decision.target for decision in decisions]


def test_a_scale_out_that_did_not_help_is_undone_after_three_minutes_and_refused_for_ten():
    found = sizes(run(1000.0, 20.0, ticks=100))
    changes = [(10 * n, size) for n, size in enumerate(found) if n and size != found[n - 1]]
    assert changes == [(60, 6), (240, 3), (840, 6)]


@pytest.mark.parametrize(
    ("rate", "lag"),
    [
        (1400.0, 20.0),  # 40 % of the expected gain of three more executors
        (1000.0, 15.0),  # lag fell by a quarter
        (1000.0, 4.0),  # no row waits
    ],
)
def test_a_scale_out_that_helped_stays(rate, lag):
    assert set(sizes(run(rate, lag))[6:]) == {6}


def test_growing_before_there_is_lag_is_no_failure():
    assert set(sizes(run(1000.0, 0.5, lag_before=0.5))[6:]) == {6}


def test_growing_in_two_steps_is_undone_to_the_beginning():
    memory: Memory = {}
    size = 3
    for n in range(40):
        seen = Observation(
            t_s=10.0 * n, executors=size, target=size, processed_rows_per_s=1000.0, lag_s=20.0
        )
        wanted = Decision(target=3 if n < 6 else 6 if n < 12 else 9, reason="asked")
        decision, memory = Undo()(wanted, seen, memory, 10.0 * n)
        size = decision.target
        assert size == (3 if n < 6 else 6 if n < 12 else 9 if n < 30 else 3)


def test_the_reason_says_for_how_long():
    assert run(1000.0, 20.0)[24].reason == "asked; more than 3 did not help, for 600 s not again"


def test_smaller_sizes_are_not_refused():
    assert sizes(run(1000.0, 20.0, asked=2))[-1] == 2


@pytest.mark.parametrize("absent", ["processed_rows_per_s", "lag_s"])
def test_without_numbers_nothing_is_judged(absent):
    memory: Memory = {}
    size = 3
    for n in range(60):
        signals = {"processed_rows_per_s": 1000.0, "lag_s": 20.0, absent: None}
        seen = Observation(t_s=10.0 * n, executors=size, target=size, **signals)  # type: ignore[arg-type]
        decision, memory = Undo()(
            Decision(target=3 if n < 6 else 6, reason="asked"), seen, memory, 10.0 * n
        )
        size = decision.target
    assert size == 6


@pytest.mark.parametrize(
    "given", [{"after_s": 0.0}, {"gain": -1.0}, {"lag_s": -2.0}, {"hold_s": 0.0}]
)
def test_a_nonsense_setting_is_refused(given):
    with pytest.raises(BadInput, match=next(iter(given))):
        Undo(**given)
