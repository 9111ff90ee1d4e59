import pytest

from rheostat.errors import BadInput
from rheostat.model import Memory, Observation
from rheostat.policies.rules.pid import Pid
from rheostat.testing.contracts import follow


def queue(
    policy: Pid,
    *,
    rate: float = 3900.0,
    per_executor: float = 1000.0,
    minutes: int = 30,
    highest: int = 100,
) -> list[int]:
    """Return the sizes, 5 s apart, for a queue that the requested executors serve."""
    memory: Memory = {}
    size, lag, sizes = 1, 0.0, []
    for n in range(12 * minutes):
        lag = max(1000.0, lag + 5.0 * (rate - per_executor * size))
        decision, memory = policy.decide(
            Observation(t_s=5.0 * n, executors=size, target=size, lag_s=lag / rate), memory
        )
        size = min(highest, decision.target)
        sizes.append(size)
    return sizes


def test_the_first_decision_keeps_the_current_size():
    decision, _ = Pid().decide(Observation(t_s=0.0, executors=7, lag_s=1.0), {})
    assert (decision.target, dict(decision.evidence)) == (
        7,
        {"integral": 7.0, "proportional": 0.0, "derivative": 0.0},
    )


def test_the_output_is_proportional_integral_and_derivative():
    policy = Pid(kp=0.5, ki=0.01, kd=2.0, setpoint=2.0)
    script = [Observation(t_s=10.0 * n, executors=4, lag_s=2.0 + n) for n in range(3)]
    decision = follow(policy, script)[0][-1]
    assert decision.evidence["proportional"] == pytest.approx(0.5 * 1.0)  # y = 2
    assert decision.evidence["integral"] == pytest.approx(4 + 0.01 * 10 * (0.5 + 1.0))
    assert decision.evidence["derivative"] == pytest.approx(2.0 * 0.05)
    assert decision.target == 5


def test_the_size_converges_to_the_load():
    sizes = queue(Pid())
    assert max(sizes) < 12
    assert 3.5 < sum(sizes[-120:]) / 120 < 4.5


def test_the_integral_does_not_wind_up_at_the_ceiling():
    _, memory = follow(
        Pid(), [Observation(t_s=5.0 * n, executors=8, lag_s=500.0) for n in range(720)]
    )
    assert memory["integral"] + memory["fast"] <= 8 + 1 + 0.01 * 5 * 5
    calm = [Observation(t_s=3600.0 + 5.0 * n, executors=8, lag_s=0.1) for n in range(60)]
    assert follow(Pid(), calm, memory)[0][-1].target < 8


def test_nothing_is_integrated_while_executors_are_pending():
    script = [Observation(t_s=5.0 * n, executors=2, target=4, lag_s=5.0) for n in range(60)]
    decisions, _ = follow(Pid(kp=0.0, kd=0.0), script)
    assert {decision.evidence["integral"] for decision in decisions} == {4.0}


def test_a_gap_in_the_signal_is_not_integrated():
    _, memory = follow(
        Pid(), [Observation(t_s=0.0, executors=4, lag_s=5.0), Observation(t_s=5.0, executors=4)]
    )
    decision, _ = Pid().decide(Observation(t_s=9000.0, executors=4, lag_s=1.0), memory)
    assert decision.target == 4


def test_utilization_can_be_the_controlled_signal():
    policy = Pid(signal="busy", setpoint=0.7, kp=4.0)
    assert policy.decide(Observation(t_s=0.0, executors=4, busy=1.0), {})[0].target == 6
    assert policy.decide(Observation(t_s=0.0, executors=4, busy=0.35), {})[0].target == 2


@pytest.mark.parametrize(
    "given",
    [{"signal": "mood"}, {"setpoint": 0.0}, {"kp": -1.0}, {"windup": -2.0}, {"window_s": 0.0}],
)
def test_an_invalid_parameter_is_rejected(given):
    with pytest.raises(BadInput, match=str(next(iter(given.values())))):
        Pid(**given)
