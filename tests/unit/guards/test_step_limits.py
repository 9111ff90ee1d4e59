import pytest

from rheostat.errors import BadInput
from rheostat.guards import OverProvisioning, StepLimits
from rheostat.model import Decision, Observation


@pytest.mark.parametrize(
    ("requested", "expected"), [(9, 6), (6, 6), (5, 5), (4, 4), (3, 3), (2, 3), (0, 3)]
)
def test_a_change_is_limited_to_the_step_size(requested, expected):
    decision, _ = StepLimits(out=2, in_=1)(
        Decision(target=requested, reason="asked"), Observation(t_s=0.0, executors=4), {}, 0.0
    )
    assert decision.target == expected
    assert ("at a time" in decision.reason) == (requested != expected)


def test_without_limits_or_a_size_nothing_changes():
    requested = Decision(target=99, reason="asked")
    assert StepLimits()(requested, Observation(t_s=0.0, executors=4), {}, 0.0)[0] == requested
    assert StepLimits(out=1)(requested, Observation(t_s=0.0), {}, 0.0)[0] == requested


@pytest.mark.parametrize("options", [{"out": 0}, {"in_": -1}])
def test_a_step_below_one_is_rejected(options):
    with pytest.raises(BadInput, match=str(next(iter(options.values())))):
        StepLimits(**options)


@pytest.mark.parametrize(
    ("size", "requested", "expected"),
    [(4, 5, 6), (4, 10, 12), (4, 4, 4), (8, 4, 5), (8, 7, 8), (2, 1, 2)],
)
def test_over_provisioning_enlarges_a_change_and_never_reverses_it(size, requested, expected):
    decision, _ = OverProvisioning(factor=0.2)(
        Decision(target=requested, reason="asked"), Observation(t_s=0.0, executors=size), {}, 0.0
    )
    assert decision.target == expected
    assert ("20% over-provisioned" in decision.reason) == (requested != expected)


def test_over_provisioning_does_not_compound():
    size = 4
    for _ in range(9):  # a policy that always needs 5
        size = OverProvisioning()(
            Decision(target=5, reason="needs 5"), Observation(t_s=0.0, executors=size), {}, 0.0
        )[0].target
    assert size == 6


def test_a_negative_factor_is_rejected():
    with pytest.raises(BadInput, match=r"-0\.1"):
        OverProvisioning(factor=-0.1)
