"""A policy as text for people and programs, from its class alone: what it does, its formula,
parameters, source and weakness.
"""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass

from rheostat.policies.parameters import parameters
from rheostat.policies.registry import POLICIES, find
from rheostat.policies.third_party import origin, third_party

NOT_STATED = "not said"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter that ``--set name=value`` takes; ``default`` is None where it has none and must
    be given.
    """

    name: str
    default: float | int | str | None
    unit: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What ``rheostat policies NAME`` prints and ``docs/policies`` holds."""

    name: str
    origin: str
    """The distribution that it comes from; ``own`` for ``module:Class``."""

    title: str
    """The first paragraph of what its file says."""

    summary: str
    """What its class says."""

    formula: str
    source: str
    fails_when: str
    parameters: tuple[Parameter, ...]


def describe(name: str) -> Description:
    """Return the description of a policy, registered or ``module:Class``; raises BadInput if there
    is none.
    """
    policy = find(name)
    about = getattr(policy, "about", None)
    module = inspect.getmodule(policy)
    return Description(
        name=name,
        origin=_origin(name),
        title=_first_sentence(module.__doc__ if module else None),
        summary=inspect.getdoc(policy) or NOT_STATED,
        formula=getattr(about, "formula", NOT_STATED),
        source=getattr(about, "source", NOT_STATED),
        fails_when=getattr(about, "fails_when", NOT_STATED),
        parameters=tuple(_parameter(field) for field in parameters(policy)),
    )


def _origin(name: str) -> str:
    others = third_party()
    if name in POLICIES:
        return "rheostat"
    return origin(others[name]) if name in others else "own"


def _first_sentence(text: str | None) -> str:
    return " ".join((text or NOT_STATED).strip().split("\n\n")[0].split())


def _parameter(field: dataclasses.Field[object]) -> Parameter:
    default = field.default if isinstance(field.default, float | int | str) else None
    return Parameter(
        name=field.name,
        default=default,
        unit=field.metadata.get("unit", ""),
        help=field.metadata.get("help", ""),
    )
