# mypy: disallow-untyped-calls=False
import pytest

from rheostat.config import GuardOptions, MetricOptions
from rheostat.control.sizing import Sizing, sizing_of, to_json
from rheostat.errors import BadInput
from rheostat.model import Limits, Slo

FULL = Sizing(
    mode="external",
    size=4,
    policy="pid",
    parameters={"setpoint": 0.6},
    slo=Slo(latency_s=5),
    limits=Limits(min_executors=2, max_executors=6),
    guards=GuardOptions(step_out=2),
    metrics=MetricOptions(lag_threshold_rows=10.0),
)


@pytest.mark.parametrize("sizing", [Sizing(), Sizing(mode="shadow"), FULL])
def test_a_sizing_survives_a_json_round_trip(sizing):
    assert sizing_of(to_json(sizing)) == sizing


def test_all_errors_are_reported_at_once():
    with pytest.raises(BadInput) as error:
        sizing_of(
            {
                "mode": "auto",
                "size": 0,
                "limits": {"min": 9, "max": 3},
                "slo": -1,
                "policy": "pid",
                "parameters": {"nothing": 1, "setpoint": "x"},
                "guards": {"step_out": "a", "undo": 3},
                "colour": "red",
            }
        )
    message = str(error.value)
    for part in ("'auto'", "0", "(9)", "-1", "'nothing'", "setpoint", "step_out", "undo", "colour"):
        assert part in message


def test_a_custom_policy_is_validated_by_the_driver():
    assert sizing_of({"policy": "mine:Policy", "parameters": {"x": 1}}).policy == "mine:Policy"


def test_parameters_without_a_policy_are_rejected():
    with pytest.raises(BadInput, match="no policy is named"):
        sizing_of({"parameters": {"x": 1}})
