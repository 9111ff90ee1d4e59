"""The workloads by name, and their creation from text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from rheostat.errors import BadInput
from rheostat.sim.workload import Constant, Workload
from rheostat_lab.loads.bursts import Bursts
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.espa import Espa
from rheostat_lab.loads.ramp import Ramp
from rheostat_lab.loads.spikes import Spikes
from rheostat_lab.loads.steps import Steps
from rheostat_lab.loads.trace import Trace
from rheostat_lab.loads.walk import Walk

WORKLOADS: dict[str, type[Workload]] = {
    "bursts": Bursts,
    "constant": Constant,
    "cosine": Cosine,
    "day": Day,
    "espa": Espa,
    "ramp": Ramp,
    "spikes": Spikes,
    "steps": Steps,
    "trace": Trace,
    "walk": Walk,
}


def create(name: str, given: Mapping[str, Any] | None = None) -> Workload:
    """Return a workload by its registered name with the given parameters, which may be text
    (``"300"``, ``"500,2000"``).

    Raises BadInput for an unknown name or parameter, a value of the wrong type, or one out of
    range.
    """
    if name not in WORKLOADS:
        raise BadInput(f"unknown workload {name!r}; there are {', '.join(WORKLOADS)}")
    known = {field.name: field for field in parameters(WORKLOADS[name])}
    for key in given or {}:
        if key not in known:
            raise BadInput(f"workload {name} has no parameter {key!r}; it has {', '.join(known)}")
    return WORKLOADS[name](
        **{key: _parse(name, known[key], value) for key, value in (given or {}).items()}
    )


def parameters(workload: type[Workload]) -> tuple[dataclasses.Field[Any], ...]:
    """Return the parameters of a kind of workload: the fields of its dataclass, with ``help`` and
    ``unit`` in their metadata.
    """
    return dataclasses.fields(workload) if dataclasses.is_dataclass(workload) else ()


def _parse(name: str, field: dataclasses.Field[Any], value: Any) -> Any:
    kind: Any = type(field.default)
    try:
        if kind is tuple:
            return tuple(
                float(part) for part in (value.split(",") if isinstance(value, str) else value)
            )
        made = kind(value)
        # int() would accept 2.5 as 2, and True as 1.
        if isinstance(value, bool) or (isinstance(value, float) and made != value):
            raise ValueError
        return made
    except (TypeError, ValueError, OverflowError):
        wanted = "numbers with commas between" if kind is tuple else f"of type {kind.__name__}"
        raise BadInput(
            f"{field.name} of workload {name} must be {wanted}, but it is {value!r}"
        ) from None
