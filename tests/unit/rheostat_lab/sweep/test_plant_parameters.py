"""The parameters of the Spark plant from text: all errors are reported at once."""

import pytest

from rheostat.errors import BadInput
from rheostat_lab.sweep.plant_parameters import spark_parameters


def test_all_invalid_parameters_are_reported_at_once() -> None:
    given = {
        "executors": "two",
        "shards": 4,
        "trigger_s": -1,
        "fixed_s": float("nan"),
        "task_noise": 3,
        "placement": "perhaps",
        "state_keys": 10,
        "state_window_s": 5,
        "source_skew": 25,
        "max_rows": "0",
        "usl_sigma": 1.5,
    }
    with pytest.raises(BadInput) as error:
        spark_parameters(given)
    message = str(error.value)
    assert "\n" not in message
    for part in (
        "no parameter 'shards'",
        "executors must be a whole number, but it is 'two'",
        "trigger_s must be at least 0 s, but it is -1",
        "fixed_s must be at least 0 s, but it is nan",
        "task_noise must be between 0 and 2",
        "usl_sigma must be between 0 and 1",
        "placement must be true or false",
        "not with both",
        "source_skew 25 cannot be above the 24 source_partitions",
        "max_rows must be at least 1 rows, but it is 0",
    ):
        assert part in message


def test_numbers_are_accepted_as_text_and_none_stays_none() -> None:
    made = spark_parameters(
        {
            "executors": "4",
            "trigger_s": "0.5",
            "placement": "no",
            "max_rows": None,
            "state_keys": "1e6",
        }
    )
    assert (made.executors, made.trigger_s, made.placement, made.max_rows, made.state_keys) == (
        4,
        0.5,
        False,
        None,
        1e6,
    )


@pytest.mark.parametrize("value", [2.5, True, "2.5", [2]])
def test_executors_must_be_an_integer(value: object) -> None:
    with pytest.raises(BadInput, match="executors must be a whole number"):
        spark_parameters({"executors": value})


@pytest.mark.parametrize(
    "given", [{"state_partitions": 0, "state_keys": 5}, {"state_partitions": 4, "state_skew": 5.0}]
)
def test_contradictory_parameters_are_rejected(given: dict[str, float]) -> None:
    with pytest.raises(BadInput, match="state_"):
        spark_parameters(given)
