"""All errors of a specification are reported at once with their lines."""

from __future__ import annotations

import pytest
import yaml

from rheostat.errors import BadInput
from rheostat_lab.sweep.spec_places import SpecErrors, grid_of, lines_of

TEXT = """minutes: 5
plants:
  small: {kind: spark}
policies:
  - hpa
  - policy: pid
"""


def errors() -> SpecErrors:
    return SpecErrors("a.yaml", dict(lines_of(yaml.compose(TEXT, Loader=yaml.SafeLoader), "")))


def reported(collected: SpecErrors) -> list[str]:
    with pytest.raises(BadInput) as error:
        collected.raise_errors()
    return str(error.value).splitlines()


def test_without_errors_nothing_is_reported() -> None:
    errors().raise_errors()


def test_errors_are_sorted_by_line_without_duplicates() -> None:
    collected = errors()
    for place in ("policies[1]", "minutes", "policies[1]"):
        collected.add(place, "is wrong")
    assert reported(collected) == [
        "a.yaml has 2 errors:",
        "  line 1, minutes: is wrong",
        "  line 6, policies[1]: is wrong",
    ]


def test_a_missing_place_has_the_line_of_its_parent() -> None:
    collected = errors()
    collected.add("plants.small.executors.0", "is missing")
    collected.add("loads", "is missing")
    assert reported(collected)[1:] == [
        "  line 1, loads: is missing",
        "  line 3, plants.small.executors.0: is missing",
    ]


@pytest.mark.parametrize(
    ("value", "above", "message"),
    [
        (None, 0.0, "must be a number above 0, but it is missing"),
        (0, 0.0, "must be a number above 0, but it is 0"),
        (-1, None, "must be a number of at least 0, but it is -1"),
        (True, None, "must be a number of at least 0, but it is True"),
        (float("nan"), None, "must be a number of at least 0, but it is nan"),
    ],
)
def test_a_number_out_of_range_is_reported(
    value: object, above: float | None, message: str
) -> None:
    collected = errors()
    assert collected.number("minutes", value, above) is None
    assert reported(collected)[1] == f"  line 1, minutes: {message}"


def test_a_failed_attempt_is_reported_and_a_successful_one_returned() -> None:
    collected = errors()
    assert collected.attempt("minutes", lambda: int("5")) == 5
    assert collected.attempt("minutes", lambda: int("five")) is None
    assert "has a value of the wrong type" in reported(collected)[1]


def test_a_grid_has_every_combination_and_keeps_scalars() -> None:
    made = list(grid_of({"a": [1, 2], "b": "x", "c": [True, False]}))
    assert len(made) == 4
    assert {combination["b"] for combination in made} == {"x"}
    assert {(combination["a"], combination["c"]) for combination in made} == {
        (1, True),
        (1, False),
        (2, True),
        (2, False),
    }
    assert list(grid_of({})) == [{}]
