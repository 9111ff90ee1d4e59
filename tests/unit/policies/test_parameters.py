"""The constructor parameters of a user's own policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from rheostat.cli.policies import describe
from rheostat.errors import BadInput
from rheostat.policies.parameters import parameters, values
from rheostat.policies.registry import create


class Plain:
    def decide(self, observation: Any, memory: Any) -> Any:
        raise NotImplementedError


class Own(Plain):
    def __init__(  # type: ignore[no-untyped-def]
        self,
        floor: int,
        gain=0.5,
        *,
        loud: bool = False,
        top: int | None = None,
        names=[],  # noqa: B006
        **rest,
    ) -> None:
        if gain > 9:
            raise ValueError("gain\nis too high")
        self.given = (floor, gain, loud, top, names)


@dataclass
class Derived(Plain):
    floor: int
    made: list[int] = field(init=False, default_factory=list)


NAME = f"{__name__}:Own"


def test_a_plain_class_has_the_parameters_of_its_constructor() -> None:
    assert [parameter.name for parameter in parameters(Own)] == [
        "floor",
        "gain",
        "loud",
        "top",
        "names",
    ]
    assert parameters(Plain) == ()


def test_a_field_outside_the_constructor_is_not_a_parameter() -> None:
    assert [parameter.name for parameter in parameters(Derived)] == ["floor"]


def test_text_is_converted_to_the_type_of_default_or_annotation() -> None:
    given = {"floor": "2", "gain": "0.25", "loud": "yes", "top": "8"}
    assert create(NAME, given).given == (2, 0.25, True, 8, [])  # type: ignore[attr-defined]


def test_an_untyped_parameter_is_passed_unchanged() -> None:
    assert values("own", Own, {"floor": [1], "top": None}) == {"floor": [1], "top": None}


def test_a_plain_class_is_described_with_its_parameters() -> None:
    assert [parameter.default for parameter in describe(NAME).parameters] == [
        None,
        0.5,
        False,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "needs a value for floor; it has floor, gain, loud, top, names"),
        ({"flor": "1"}, "has no parameter 'flor'; it has floor, gain, loud, top, names"),
        ({"floor": "two"}, "must be of type int, but it is 'two'"),
        ({"floor": "1", "loud": "perhaps"}, "must be yes or no"),
        ({"floor": "1", "gain": "10"}, "cannot be made: ValueError: gain is too high"),
    ],
)
def test_invalid_constructor_arguments_are_reported_in_one_line(
    given: dict[str, str], message: str
) -> None:
    with pytest.raises(BadInput) as refused:
        create(NAME, given)
    assert message in str(refused.value)
    assert NAME in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_object_instead_of_a_class_is_rejected() -> None:
    globals()["thing"] = Plain()
    with pytest.raises(BadInput, match="must be a class, but it is an object"):
        create(f"{__name__}:thing")
