import pytest

from rheostat.errors import BadInput
from rheostat.guards import Stabilization
from rheostat.model import Decision, Memory, Observation


def sizes(rule: Stabilization, requested: list[int], size: int, step_s: float = 60.0) -> list[int]:
    memory: Memory = {}
    targets = []
    for n, target in enumerate(requested):
        observation = Observation(t_s=n * step_s, executors=size, target=size)
        decision, memory = rule(
            Decision(target=target, reason="asked"), observation, memory, n * step_s
        )
        size = decision.target
        targets.append(size)
    return targets


def test_scale_in_uses_the_largest_request_in_five_minutes():
    assert sizes(Stabilization(), [4, 6, 2, 2, 3, 2, 2, 2, 2, 2], 4) == [
        4,
        6,
        6,
        6,
        6,
        6,
        3,
        3,
        3,
        2,
    ]


def test_scale_out_uses_the_smallest_request_in_its_window():
    assert sizes(Stabilization(out_s=120.0), [8, 6, 8, 8, 8], 4) == [4, 4, 6, 8, 8]


def test_the_reason_names_the_window():
    observation = Observation(t_s=0.0, executors=8)
    assert (
        Stabilization()(Decision(target=2, reason="asked"), observation, {}, 0.0)[0].reason
        == "asked; the last 300 s asked for 8"
    )
    assert (
        Stabilization(out_s=60.0)(Decision(target=9, reason="asked"), observation, {}, 0.0)[
            0
        ].reason
        == "asked; the last 60 s asked for 8"
    )


def test_a_clock_set_back_clears_the_window():
    memory = {"high": [[90_000.0, 9]], "low": [[90_000.0, 9]]}
    decision, _ = Stabilization()(
        Decision(target=2, reason="asked"), Observation(t_s=0.0, executors=8), memory, 0.0
    )
    assert decision.target == 2


@pytest.mark.parametrize("options", [{"out_s": -1.0}, {"in_s": float("nan")}])
def test_an_invalid_window_is_rejected(options):
    with pytest.raises(BadInput, match=next(iter(options))):
        Stabilization(**options)
