# mypy: disallow-untyped-calls=False
import pytest

from rheostat.config import GuardOptions
from rheostat.control.sizing import Sizing
from rheostat.errors import BadInput
from rheostat.model import Limits
from rheostat.operator.streaming_application import application_of, camel, snake


def body(**spec):
    spec.setdefault("driver", {"selector": {"app": "x"}})
    return {"metadata": {"name": "a", "namespace": "n", "generation": 3}, "spec": spec}


def test_a_resource_is_parsed():
    application = application_of(
        body(
            mode="external",
            replicas=4,
            limits={"min": 2, "max": 6},
            guards={"stepOut": 2},
        )
    )
    assert application.sizing == Sizing(
        mode="external", size=4, limits=Limits.between(2, 6), guards=GuardOptions(step_out=2)
    )
    assert application.labels == {"app": "x", "spark-role": "driver"}


def test_a_resource_can_be_paused():
    assert application_of(body(paused=True)).sizing == Sizing(mode="shadow", paused=True)
    with pytest.raises(BadInput, match="paused must be true or false, but it is 'yes'"):
        application_of(body(paused="yes"))


def test_a_schedule_is_validated_when_it_is_parsed():
    guards = {"floor": "Mon-Fri 08:00-10:00 Europe/Budapest = 4", "ceiling": "22:00-06:00 = 2"}
    assert application_of(body(guards=guards)).sizing.guards == GuardOptions(
        floor=guards["floor"], ceiling=guards["ceiling"]
    )
    with pytest.raises(BadInput, match="above the ceiling"):
        application_of(body(guards={**guards, "floor": "Mon = 4"}))


def test_the_default_mode_is_shadow_and_ignores_replicas():
    assert application_of(body(replicas=4)).sizing == Sizing(mode="shadow")


def test_a_spark_application_is_selected_by_its_label():
    application = application_of(body(driver={"sparkApplication": "etl"}))
    assert application.labels["sparkoperator.k8s.io/app-name"] == "etl"


def test_all_errors_are_reported_at_once():
    invalid_body = body(
        driver={"selector": {"a": "b"}, "sparkApplication": "x"},
        limits={"min": 5, "max": 2},
        policy="no-such",
        guards={"stepOut": -0.5},
    )
    with pytest.raises(BadInput) as error:
        application_of(invalid_body)
    for part in ("exactly one", "(5)", "no-such", "step_out"):
        assert part in str(error.value)


@pytest.mark.parametrize("name", ["step_out", "stabilization_out_s", "undo"])
def test_names_convert_to_camel_case_and_back(name):
    assert snake(camel(name)) == name
