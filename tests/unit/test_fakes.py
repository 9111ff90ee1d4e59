import pytest
from tests.fakes import RecordingActuator, ScriptedSensor

from rheostat.model import Decision, Observation


def test_a_scripted_sensor_returns_observations_none_or_raises():
    one = Observation(t_s=0.0)
    sensor = ScriptedSensor([one, [one, one], None, OSError("gone")])
    assert [len(sensor.observe(0.0)) for _ in range(3)] == [1, 2, 0]
    with pytest.raises(OSError, match="gone"):
        sensor.observe(0.0)
    assert sensor.observe(0.0) == ()


def test_an_actuator_records_its_requests():
    actuator = RecordingActuator()
    actuator.rescale(Decision(target=3, reason=""), 1.0)
    assert actuator.targets == [3]
    assert actuator.capabilities().can_scale
