"""The registry of policies: an explicit, sorted dict; users name their own as ``module:Class``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.policies.catch_up import CatchUp
from rheostat.policies.conttune import ContTune
from rheostat.policies.daedalus import Daedalus
from rheostat.policies.dhalion import Dhalion
from rheostat.policies.dhalion_adapted import DhalionAdapted
from rheostat.policies.drs import Drs
from rheostat.policies.ds2 import Ds2
from rheostat.policies.ds2_modern import Ds2Modern, Ds2ModernAdapted
from rheostat.policies.fixed import Fixed
from rheostat.policies.flink import Flink
from rheostat.policies.hpa import Hpa
from rheostat.policies.measured_throughput import MeasuredThroughput
from rheostat.policies.pid import Pid
from rheostat.policies.spark_batch_ratio import SparkBatchRatio
from rheostat.policies.threshold import Threshold
from rheostat.policies.varga import VargaV1, VargaV2
from rheostat.ports import Policy

POLICIES: dict[str, type[Policy]] = {
    "catch-up": CatchUp,
    "conttune": ContTune,
    "daedalus": Daedalus,
    "dhalion": Dhalion,
    "dhalion-adapted": DhalionAdapted,
    "drs": Drs,
    "ds2": Ds2,
    "ds2-modern": Ds2Modern,
    "ds2-modern-adapted": Ds2ModernAdapted,
    "fixed": Fixed,
    "flink": Flink,
    "hpa": Hpa,
    "measured-throughput": MeasuredThroughput,
    "pid": Pid,
    "spark-batch-ratio": SparkBatchRatio,
    "threshold": Threshold,
    "varga-v1": VargaV1,
    "varga-v2": VargaV2,
}

_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def find(name: str) -> type[Policy]:
    """Return the class of a policy by its registered name or as ``module:Class``; raises BadInput
    if there is none.
    """
    if ":" in name:
        return _load(name)
    if name not in POLICIES:
        raise BadInput(
            f"unknown policy {name!r}; there are {', '.join(POLICIES)} (or your own as"
            " module:Class)"
        )
    return POLICIES[name]


def parameters(policy: type[Policy]) -> tuple[dataclasses.Field[Any], ...]:
    """Return the parameters of a policy: the fields of its dataclass, each with ``help`` and
    ``unit`` in its metadata.
    """
    return dataclasses.fields(policy) if dataclasses.is_dataclass(policy) else ()


def create(name: str, given: Mapping[str, Any] | None = None, slo: Slo | None = None) -> Policy:
    """Return a policy by name with the given parameters; the latency objective is handed to those
    that have ``objective_s``.

    Numbers may be given as text (command line). Raises BadInput for an unknown policy, an unknown
    parameter, a value of the wrong type or out of range.
    """
    policy = find(name)
    known = {field.name: field for field in parameters(policy)}
    values: dict[str, Any] = (
        {"objective_s": slo.latency_s} if slo and "objective_s" in known else {}
    )
    for key, value in (given or {}).items():
        if key not in known:
            raise BadInput(
                f"policy {name} has no parameter {key!r}; it has {', '.join(known) or 'none'}"
            )
        values[key] = _parse(name, known[key], value)
    return policy(**values)


def _parse(policy: str, field: dataclasses.Field[Any], value: Any) -> Any:
    if field.default is dataclasses.MISSING:
        return value
    kind: type = type(field.default)
    try:
        parsed = _yes_or_no(value) if kind is bool else kind(value)
        if kind is int and parsed != (
            float(value) if isinstance(value, str) else value
        ):  # 2.5 is no count
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        wanted = "yes or no (true or false, 1 or 0)" if kind is bool else f"of type {kind.__name__}"
        raise BadInput(
            f"{field.name} of policy {policy} must be {wanted}, but it is {value!r}"
        ) from None
    if isinstance(parsed, float) and not math.isfinite(parsed):
        raise BadInput(
            f"{field.name} of policy {policy} must be a finite number, but it is {value!r}"
        )
    return parsed


def _yes_or_no(value: Any) -> bool:
    text = str(value).strip().lower()
    if text not in (*_YES, *_NO):
        raise ValueError
    return text in _YES


def _load(path: str) -> type[Policy]:
    module, _, attribute = path.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise BadInput(f"policy {path!r} cannot be loaded: {error}") from None
    if not callable(getattr(found, "decide", None)):
        raise BadInput(f"policy {path!r} has no method decide(observation, memory)")
    return found  # type: ignore[no-any-return]
