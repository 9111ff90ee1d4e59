from dataclasses import dataclass

import pytest

from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.policies.parameters import parameters, parsed
from rheostat.policies.rates.measured_throughput import MeasuredThroughput
from rheostat.policies.registry import POLICIES, create, find


class Plain:
    def decide(self, observation, memory):
        raise NotImplementedError


@dataclass(frozen=True)
class WithRequiredSize(Plain):
    size: int


@pytest.mark.parametrize("name", POLICIES)
def test_a_registered_name_gives_its_class(name):
    assert type(create(name)) is find(name) is POLICIES[name]


def test_the_objective_is_passed_and_a_parameter_overrides_it():
    assert create("measured-throughput", slo=Slo(latency_s=4.0)) == MeasuredThroughput(slo=4.0)
    assert create("measured-throughput", {"slo": "2"}, Slo(latency_s=4.0)) == MeasuredThroughput(
        slo=2.0
    )


def test_numbers_are_accepted_as_text():
    assert create("measured-throughput", {"factor": "0.5", "samples": "7"}) == MeasuredThroughput(
        factor=0.5, samples=7
    )


@pytest.mark.parametrize("text", ["false", "no", "off", "0", " False ", "NO", False, 0])
def test_false_is_accepted_as_text(text):
    assert create("flink", {"effectiveness_detection": text}) == create("flink")


@pytest.mark.parametrize("text", ["true", "yes", "on", "1", "True", True, 1])
def test_true_is_accepted_as_text(text):
    assert create("flink", {"effectiveness_detection": text}) != create("flink")


def test_a_user_policy_is_loaded_by_its_module():
    assert (
        find("rheostat.policies.rates.measured_throughput:MeasuredThroughput") is MeasuredThroughput
    )


def test_a_parameter_without_a_default_is_passed_unchanged():
    (size,) = parameters(WithRequiredSize)
    assert parsed("needy", size, [3]) == [3]


def test_a_class_without_fields_has_no_parameters():
    assert parameters(Plain) == ()


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("nope", {}, "unknown policy 'nope'; there are "),
        ("Predictiv", {}, r"unknown policy 'Predictiv' (did you mean 'predictive'?); there are "),
        ("no.such.module:Policy", {}, "cannot be loaded"),
        ("rheostat.model:Nothing", {}, "cannot be loaded"),
        ("rheostat.model:Slo", {}, "no method decide"),
        ("measured-throughput", {"faktor": 1}, "no parameter 'faktor'; it has factor"),
        ("measured-throughput", {"factor": "many"}, "of type float, but it is 'many'"),
        ("measured-throughput", {"factor": "nan"}, "finite"),
        ("measured-throughput", {"factor": "inf"}, "finite"),
        ("measured-throughput", {"samples": "2.5"}, "of type int"),
        ("measured-throughput", {"samples": 2.5}, "of type int, but it is 2.5"),
        (
            "flink",
            {"effectiveness_detection": "perhaps"},
            "must be yes or no (true or false, 1 or 0), but it is 'perhaps'",
        ),
        ("flink", {"effectiveness_detection": None}, "must be yes or no"),
        ("flink", {"effectiveness_detection": 2}, "but it is 2"),
        ("measured-throughput", {"factor": -1}, "factor must be at least 0, but it is -1"),
        ("measured-throughput", {"quantile": 1.5}, "at most 1"),
        ("measured-throughput", {"window_s": 0}, "window_s must be above 0"),
    ],
)
def test_invalid_arguments_are_reported_in_one_line(name, given, message):
    with pytest.raises(BadInput) as refused:
        create(name, given)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
