"""The parameters of a simulated Spark job from a specification, in which numbers may be text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rheostat.errors import BadInput
from rheostat.sim.spark.spark_parameters import SparkParameters

_PREFIX = "the parameters of the Spark plant: "


def spark_parameters(given: Mapping[str, Any]) -> SparkParameters:
    """Return parameters by name, text allowed; raises BadInput with all errors."""
    known = {option.name: option for option in dataclasses.fields(SparkParameters)}
    wrong = [f"there is no parameter {name!r}" for name in given if name not in known]
    read: dict[str, Any] = {}
    for name, value in given.items():
        if name in known:
            try:
                read[name] = _parsed(known[name], value)
            except (TypeError, ValueError, OverflowError):
                wrong.append(f"{name} must be {_kind(known[name])}, but it is {value!r}")
    try:
        made = SparkParameters(**read)
    except BadInput as more:
        wrong.append(str(more).removeprefix(_PREFIX))
    if wrong:
        raise BadInput(_PREFIX + "; ".join(wrong))
    return made


def _kind(parameter: dataclasses.Field[Any]) -> str:
    return {"int": "a whole number", "int | None": "a whole number", "bool": "true or false"}.get(
        str(parameter.type), "a number"
    )


def _parsed(parameter: dataclasses.Field[Any], value: Any) -> Any:
    kind = str(parameter.type)
    if value is None and kind.endswith("None"):
        return None
    if kind == "bool":
        named = {"true": True, "false": False, "yes": True, "no": False}
        text = str(value).lower()
        return named[text] if text in named else _no_number()
    # True is an integer in Python, but was hardly meant as one.
    if isinstance(value, bool):
        return _no_number()
    if kind.startswith("int"):
        number = float(value)
        return int(number) if number == int(number) else _no_number()
    return float(value)


def _no_number() -> Any:
    raise ValueError
