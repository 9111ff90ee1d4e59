"""The parameters of a policy's constructor, and their values parsed from text if necessary."""

from __future__ import annotations

import dataclasses
import inspect
import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Observation

STEADY = Observation(
    t_s=0.0,
    executors=4,
    trigger_s=1.0,
    batch_s=0.75,
    batch_rows=3000,
    processed_rows_per_s=4000.0,
    input_rows_per_s=3000.0,
    busy=0.75,
    lag_rows=1500.0,
    lag_s=0.5,
)
"""A constant load that 4 executors process in three quarters of the time."""

ALMOST_FULL = dataclasses.replace(STEADY, batch_s=0.9, processed_rows_per_s=3333.0, busy=0.9)
"""The same load, if it takes nine tenths of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Describes a policy, as its class attribute ``about``; the command line, the documentation and
    the contract tests read it.
    """

    formula: str
    """The rule in one to five lines, with the names of ``Observation`` and of the parameters."""

    source: str
    """Paper and equation, or project and class."""

    fails_when: str
    """The conditions under which the policy decides wrongly."""
    steady: Observation = STEADY
    """A constant load at the right size: after ten minutes of it, the target is unchanged."""

    monotone: bool = False
    """Whether a higher arrival rate, all else equal, never lowers the target."""


Parameter = dataclasses.Field[Any]
"""Name, default and type of a parameter; that of a built-in policy has ``help`` and ``unit``."""

_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_KINDS: dict[str, type] = {"int": int, "float": float, "bool": bool}
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


_LIMITS = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}


def parameter(default: Any, meaning: str, unit: str, **limits: Any) -> Any:
    """Return the dataclass field of a parameter, with its meaning and unit.

    ``limits`` are ``above``, ``at_least``, ``below`` and ``at_most`` of a number, which otherwise
    must be at least 0, and the ``choices`` of a text.
    """
    if type(default) in (int, float) and not {"above", "at_least"} & limits.keys():
        limits["at_least"] = 0
    return dataclasses.field(default=default, metadata={"help": meaning, "unit": unit, **limits})


class Limited:
    """The base of a policy whose parameters must be within their limits."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_limits(self)


def check_limits(policy: Any) -> None:
    """Raise BadInput for the first parameter of a policy that is outside its limits."""
    for declared in dataclasses.fields(policy):
        name, limits, value = declared.name, declared.metadata, getattr(policy, declared.name)
        if "choices" in limits and value not in limits["choices"]:
            choices = ", ".join(limits["choices"])
            raise BadInput(f"{name} must be one of {choices}, but it is {value!r}")
        bounds = {limit: limits[limit] for limit in _LIMITS if limit in limits}
        if not all(_LIMITS[limit](value, bound) for limit, bound in bounds.items()):
            words = (f"{limit.replace('_', ' ')} {bound:g}" for limit, bound in bounds.items())
            raise BadInput(f"{name} must be {' and '.join(words)}, but it is {value}")


def parameters(policy: type) -> tuple[Parameter, ...]:
    """Return the parameters of a policy: the fields of its dataclass, or the named arguments of its
    ``__init__``.
    """
    if dataclasses.is_dataclass(policy):
        return tuple(field for field in dataclasses.fields(policy) if field.init)
    taken = [
        parameter
        for parameter in inspect.signature(policy).parameters.values()
        if parameter.kind in _NAMED
    ]
    like = dataclasses.make_dataclass("_Like", map(_as_field, taken), kw_only=True)
    return dataclasses.fields(like)


def values(name: str, policy: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values, converted for the policy's constructor; ``name`` is the user's name
    for the policy.

    Numbers and switches may be text. Raises BadInput for an unknown parameter, a value of the wrong
    type, and a missing value of a parameter without a default.
    """
    known = {parameter.name: parameter for parameter in parameters(policy)}
    there = f"it has {', '.join(known) or 'none'}"
    for key in given:
        if key not in known:
            raise BadInput(f"policy {name} has no parameter {key!r}; {there}")
    missing = [item.name for item in known.values() if _must(item) and item.name not in given]
    if missing:
        raise BadInput(f"policy {name} needs a value for {', '.join(missing)}; {there}")
    return {key: parsed(name, known[key], value) for key, value in given.items()}


def parsed(policy: str, parameter: Parameter, value: Any) -> Any:
    """Return a value converted to the type of its parameter; unchanged if that type is unknown."""
    kind = _kind(parameter)
    # A user's policy may take any value: only a known default or annotation is enforced.
    if kind is None or (_is_open(parameter) and not isinstance(value, str)):
        return value
    try:
        # bool("false") is True in Python.
        made = parsed_bool(value) if kind is bool else kind(value)
        # 2.5 is not an integer.
        if kind is int and made != (float(value) if isinstance(value, str) else value):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        wanted = "yes or no (true or false, 1 or 0)" if kind is bool else f"of type {kind.__name__}"
        raise BadInput(
            f"{parameter.name} of policy {policy} must be {wanted}, but it is {value!r}"
        ) from None
    if isinstance(made, float) and not math.isfinite(made):
        raise BadInput(
            f"{parameter.name} of policy {policy} must be a finite number, but it is {value!r}"
        )
    return made


def _kind(parameter: Parameter) -> type | None:
    """Return the type of the default, or the first number or switch type of the annotation."""
    if not _is_open(parameter):
        return type(parameter.default)
    words = re.findall(r"\w+", inspect.formatannotation(parameter.type))
    return next((_KINDS[word] for word in words if word in _KINDS), None)


def _is_open(parameter: Parameter) -> bool:
    return parameter.default is dataclasses.MISSING or parameter.default is None


def _must(parameter: Parameter) -> bool:
    return (
        parameter.default is dataclasses.MISSING
        and parameter.default_factory is dataclasses.MISSING
    )


def _as_field(taken: inspect.Parameter) -> tuple[str, Any, Any]:
    kind = Any if taken.annotation is taken.empty else taken.annotation
    if taken.default is taken.empty:
        return taken.name, kind, dataclasses.field()
    if taken.default.__class__.__hash__ is None:  # a dataclass rejects an unhashable default
        return taken.name, kind, dataclasses.field(default_factory=lambda: taken.default)
    return taken.name, kind, dataclasses.field(default=taken.default)


def parsed_bool(value: Any) -> bool:
    """Return a switch parsed from text; raises ValueError if it is neither yes nor no."""
    text = str(value).strip().lower()
    if text not in (*_YES, *_NO):
        raise ValueError
    return text in _YES
