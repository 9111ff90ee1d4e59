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


def told(found: SpecErrors) -> list[str]:
    with pytest.raises(BadInput) as error:
        found.raise_errors()
    return str(error.value).splitlines()


def test_nothing_wrong_is_nothing_said() -> None:
    errors().raise_errors()


def test_errors_come_in_the_order_of_their_lines_each_once() -> None:
    found = errors()
    for place in ("policies[1]", "minutes", "policies[1]"):
        found.add(place, "is wrong")
    assert told(found) == [
        "a.yaml has 2 errors:",
        "  line 1, minutes: is wrong",
        "  line 6, policies[1]: is wrong",
    ]


def test_a_place_that_is_not_there_has_the_line_of_what_it_would_be_in() -> None:
    found = errors()
    found.add("plants.small.executors.0", "is missing")
    found.add("loads", "is missing")
    assert told(found)[1:] == [
        "  line 1, loads: is missing",
        "  line 3, plants.small.executors.0: is missing",
    ]


@pytest.mark.parametrize(
    ("value", "above", "said"),
    [
        (None, 0.0, "must be a number above 0, but it is missing"),
        (0, 0.0, "must be a number above 0, but it is 0"),
        (-1, None, "must be a number of at least 0, but it is -1"),
        (True, None, "must be a number of at least 0, but it is True"),
        (float("nan"), None, "must be a number of at least 0, but it is nan"),
    ],
)
def test_what_is_no_number_in_range_is_said(value: object, above: float | None, said: str) -> None:
    found = errors()
    assert found.number("minutes", value, above) is None
    assert told(found)[1] == f"  line 1, minutes: {said}"


def test_what_cannot_be_made_is_said_and_what_can_is_returned() -> None:
    found = errors()
    assert found.attempt("minutes", lambda: int("5")) == 5
    assert found.attempt("minutes", lambda: int("five")) is None
    assert "has a value of the wrong type" in told(found)[1]


def test_a_grid_has_every_combination_and_keeps_what_is_no_list() -> None:
    made = list(grid_of({"a": [1, 2], "b": "x", "c": [True, False]}))
    assert len(made) == 4
    assert {each["b"] for each in made} == {"x"}
    assert {(each["a"], each["c"]) for each in made} == {
        (1, True),
        (1, False),
        (2, True),
        (2, False),
    }
    assert list(grid_of({})) == [{}]
