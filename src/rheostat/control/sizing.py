"""How to size an application, as an operator requests it: a value and its JSON form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any, TypeVar

from rheostat.config import GuardOptions, MetricOptions
from rheostat.errors import BadInput
from rheostat.guards import guards_of
from rheostat.model import Limits, Slo
from rheostat.policies.registry import wrong_parameters

MODES = ("external", "policy", "shadow")
"""What decides the size: an external controller through ``/scale``; a policy; or nothing, and a
policy only recommends one."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """What sizes an application, and within which limits.

    ``size`` is the external size, None before the first request. If ``policy``, ``slo``, ``limits``
    or ``guards`` are None, the values with which the driver was started apply. While ``paused``, no
    decisions are made.
    """

    mode: str = "policy"
    paused: bool = False
    size: int | None = None
    policy: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    slo: Slo | None = None
    limits: Limits | None = None
    guards: GuardOptions | None = None
    metrics: MetricOptions = field(default_factory=MetricOptions)


def to_json(sizing: Sizing) -> dict[str, Any]:
    """Return the sizing as JSON values, without absent ones."""
    values = {
        "mode": sizing.mode,
        "paused": sizing.paused or None,
        "size": sizing.size,
        "policy": sizing.policy,
        "parameters": dict(sizing.parameters) or None,
        "slo": sizing.slo.latency_s if sizing.slo else None,
        "limits": {"min": sizing.limits.min_executors, "max": sizing.limits.max_executors}
        if sizing.limits
        else None,
        "guards": asdict(sizing.guards) if sizing.guards else None,
        "metrics": asdict(sizing.metrics),
    }
    return {name: value for name, value in values.items() if value is not None}


def sizing_of(read: Mapping[str, Any]) -> Sizing:
    """Return the sizing in JSON values; raises BadInput with all errors in one line."""
    wrong: list[str] = []
    names = {option.name for option in fields(Sizing)}
    wrong += [f"unknown field {name!r} of a sizing" for name in read if name not in names]
    mode, size, limits = read.get("mode", "policy"), read.get("size"), read.get("limits")
    if mode not in MODES:
        wrong.append(f"mode must be one of {', '.join(MODES)}, but it is {mode!r}")
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        wrong.append(f"size must be a whole number of executors of at least 1, but it is {size!r}")
    paused = read.get("paused", False)
    if not isinstance(paused, bool):
        wrong.append(f"paused must be true or false, but it is {paused!r}")
    sizing = Sizing(
        mode=mode,
        paused=paused,
        size=size,
        policy=read.get("policy"),
        parameters=_mapping("parameters", read.get("parameters"), wrong),
        slo=_tried(partial(Slo, latency_s=read["slo"]), wrong) if "slo" in read else None,
        limits=_limits(limits, wrong) if limits is not None else None,
        guards=_group(GuardOptions, "guards", read["guards"], wrong) if "guards" in read else None,
        metrics=_group(MetricOptions, "metrics", read.get("metrics", {}), wrong) or MetricOptions(),
    )
    if sizing.guards is not None:
        _tried(partial(guards_of, sizing.limits or Limits(), sizing.guards), wrong)
    if not isinstance(sizing.policy, str | None):
        wrong.append(f"policy must be a policy's name, but it is {sizing.policy!r}")
    elif sizing.policy is None and sizing.parameters:
        wrong.append("parameters are those of a policy, but no policy is named")
    elif sizing.policy is not None and ":" not in sizing.policy:  # only the driver can import it
        wrong += wrong_parameters(sizing.policy, sizing.parameters)
    if wrong:
        raise BadInput("; ".join(wrong))
    return sizing


def _limits(read: Any, wrong: list[str]) -> Limits | None:
    given = _mapping("limits", read, wrong)
    wrong += [
        f"unknown field {name!r} of limits; use min and max"
        for name in given
        if name not in ("min", "max")
    ]
    usual = Limits()
    low, high = given.get("min", usual.min_executors), given.get("max", usual.max_executors)
    return _tried(partial(Limits.between, low, high), wrong)


def _group(kind: type[_T], name: str, read: Any, wrong: list[str]) -> _T | None:
    """Return an option group from its values; each value is checked separately."""
    given = _mapping(name, read, wrong)
    known = {declared.name for declared in fields(kind)}  # type: ignore[arg-type]
    wrong += [f"unknown field {option!r} of {name}" for option in given if option not in known]
    taken = {option: value for option, value in given.items() if option in known}
    before = len(wrong)
    for option, value in taken.items():
        _tried(partial(kind, **{option: value}), wrong)
    return None if len(wrong) > before else _tried(partial(kind, **taken), wrong)


def _mapping(name: str, read: Any, wrong: list[str]) -> Mapping[str, Any]:
    if read is None or isinstance(read, Mapping):
        return read or {}
    wrong.append(f"{name} must map names to values, but it is {read!r}")
    return {}


def _tried(make: Callable[[], _T], wrong: list[str]) -> _T | None:
    try:
        return make()
    except BadInput as error:
        wrong.append(str(error))
        return None
