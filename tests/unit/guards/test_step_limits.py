import pytest

from rheostat.errors import BadInput
from rheostat.guards import OverProvisioning, StepLimits
from rheostat.model import Decision, Observation


@pytest.mark.parametrize(("asked", "got"), [(9, 6), (6, 6), (5, 5), (4, 4), (3, 3), (2, 3), (0, 3)])
def test_no_more_than_a_step(asked, got):
    decision, _ = StepLimits(out=2, in_=1)(
        Decision(target=asked, reason="asked"), Observation(t_s=0.0, executors=4), {}, 0.0
    )
    assert decision.target == got
    assert ("at a time" in decision.reason) == (asked != got)


def test_without_limits_or_a_size_nothing_is_changed():
    asked = Decision(target=99, reason="asked")
    assert StepLimits()(asked, Observation(t_s=0.0, executors=4), {}, 0.0)[0] == asked
    assert StepLimits(out=1)(asked, Observation(t_s=0.0), {}, 0.0)[0] == asked


@pytest.mark.parametrize("given", [{"out": 0}, {"in_": -1}])
def test_a_step_of_none_is_refused(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        StepLimits(**given)


@pytest.mark.parametrize(
    ("size", "asked", "got"), [(4, 5, 6), (4, 10, 12), (4, 4, 4), (8, 4, 5), (8, 7, 8), (2, 1, 2)]
)
def test_over_provisioning_enlarges_a_change_and_never_turns_it(size, asked, got):
    decision, _ = OverProvisioning(factor=0.2)(
        Decision(target=asked, reason="asked"), Observation(t_s=0.0, executors=size), {}, 0.0
    )
    assert decision.target == got
    assert ("20% over-provisioned" in decision.reason) == (asked != got)


def test_over_provisioning_does_not_add_to_itself():
    size = 4
    for _ in range(9):  # a policy that always needs 5
        size = OverProvisioning()(
            Decision(target=5, reason="needs 5"), Observation(t_s=0.0, executors=size), {}, 0.0
        )[0].target
    assert size == 6


def test_a_negative_factor_is_refused():
    with pytest.raises(BadInput, match=r"-0\.1"):
        OverProvisioning(factor=-0.1)
