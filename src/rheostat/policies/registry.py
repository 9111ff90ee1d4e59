"""The registry of policies: an explicit, sorted dict; users name their own as ``module:Class``."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from rheostat.errors import BadInput
from rheostat.model import Slo
from rheostat.policies.forecasts.chameleon import Chameleon
from rheostat.policies.forecasts.daedalus import Daedalus
from rheostat.policies.forecasts.pascal import Pascal
from rheostat.policies.forecasts.stochastic_mpc import StochasticMpc
from rheostat.policies.parameters import parameters, values
from rheostat.policies.predictive.policy import Predictive
from rheostat.policies.rates.catch_up import CatchUp
from rheostat.policies.rates.conttune import ContTune
from rheostat.policies.rates.deadline import Deadline
from rheostat.policies.rates.drs import Drs
from rheostat.policies.rates.ds2 import Ds2
from rheostat.policies.rates.ds2_modern import Ds2Modern, Ds2ModernAdapted
from rheostat.policies.rates.flink import Flink
from rheostat.policies.rates.measured_throughput import MeasuredThroughput
from rheostat.policies.rules.dhalion import Dhalion
from rheostat.policies.rules.dhalion_adapted import DhalionAdapted
from rheostat.policies.rules.fixed import Fixed
from rheostat.policies.rules.hpa import Hpa
from rheostat.policies.rules.pid import Pid
from rheostat.policies.rules.spark_batch_ratio import SparkBatchRatio
from rheostat.policies.rules.threshold import Threshold
from rheostat.policies.rules.varga import VargaV1, VargaV2
from rheostat.policies.third_party import third_party
from rheostat.ports import Policy

POLICIES: dict[str, type[Policy]] = {
    "catch-up": CatchUp,
    "chameleon": Chameleon,
    "conttune": ContTune,
    "daedalus": Daedalus,
    "deadline": Deadline,
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
    "pascal": Pascal,
    "pid": Pid,
    "predictive": Predictive,
    "spark-batch-ratio": SparkBatchRatio,
    "stochastic-mpc": StochasticMpc,
    "threshold": Threshold,
    "varga-v1": VargaV1,
    "varga-v2": VargaV2,
}


def find(name: str) -> type[Policy]:
    """Return the class of a policy by its registered name, by the name of an installed package's
    entry point, or as ``module:Class``; raises BadInput if it does not exist.
    """
    # Checked first, because no registered name contains a colon.
    if ":" in name:
        return _load(name)
    # Built-in policies first: an installed package must not redefine their names.
    if name in POLICIES:
        return POLICIES[name]
    others = third_party()
    if name in others:
        return _load(others[name].value)
    known = [*POLICIES, *others]
    similar = get_close_matches(name.lower(), known, 1)
    hint = f" (did you mean {similar[0]!r}?)" if similar else ""
    raise BadInput(
        f"unknown policy {name!r}{hint}; there are {', '.join(known)} (or your own as module:Class)"
    )


def create(name: str, given: Mapping[str, Any] | None = None, slo: Slo | None = None) -> Policy:
    """Return a policy by name with the given parameters; a policy with a parameter ``slo`` gets the
    latency objective in seconds.

    Numbers may be text (command line). Raises BadInput for an unknown policy, an unknown parameter,
    a value of the wrong type or out of range, and for a user's policy that cannot be loaded or
    created.
    """
    policy = find(name)
    wanted = dict(given or {})
    if slo and any(parameter.name == "slo" for parameter in parameters(policy)):
        # A value for the policy itself overrides the objective of the job.
        wanted.setdefault("slo", slo.latency_s)
    taken = values(name, policy, wanted)
    try:
        return policy(**taken)
    except BadInput:
        raise
    except Exception as fault:
        # An error in a built-in policy is our bug and keeps its traceback.
        if ":" not in name:
            raise
        raise BadInput(f"policy {name} cannot be made: {_one_line(fault)}") from fault


def wrong_parameters(name: str, given: Mapping[str, Any]) -> list[str]:
    """Return all errors of a policy and its parameters, one line each; empty if there are none."""
    combined = _fault(name, given)
    if combined is None:
        return []
    needs = "needs a value for"  # each parameter is tried alone, so the others are missing
    alone = [fault for key in given if (fault := _fault(name, {key: given[key]}))]
    return [fault for fault in dict.fromkeys(alone) if needs not in fault] or [combined]


def check_policy_object(policy: object, parameters: Mapping[str, Any]) -> None:
    """Raise BadInput for a value that is no policy, and for parameters next to an object."""
    decide = "decide(observation, memory)"
    if isinstance(policy, type):
        raise BadInput(
            f"policy= must be a name or an object, but it is the class {policy.__name__}; make one:"
            f" policy={policy.__name__}(...)"
        )
    if not callable(getattr(policy, "decide", None)):
        raise BadInput(
            f"policy= must be a name or an object with {decide}, but {policy!r:.80} has none"
        )
    if parameters:
        raise BadInput(
            f"parameters= ({', '.join(map(str, parameters))}) are for a policy by name; give them"
            f" to {type(policy).__name__} itself"
        )


def _fault(name: str, given: Mapping[str, Any]) -> str | None:
    try:
        create(name, given)
    except BadInput as fault:
        return str(fault)
    return None


def _load(path: str) -> type[Policy]:
    module, _, attribute = path.partition(":")
    try:
        policy = getattr(import_module(module), attribute)
    except Exception as fault:  # importing a user's module can raise anything
        raise BadInput(f"policy {path!r} cannot be loaded: {_one_line(fault)}") from fault
    if not callable(getattr(policy, "decide", None)):
        raise BadInput(f"policy {path!r} has no method decide(observation, memory)")
    if not isinstance(policy, type):
        raise BadInput(f"policy {path!r} must be a class, but it is an object: {policy!r}")
    return policy


def _one_line(fault: Exception) -> str:
    message = " ".join(str(fault).split())
    is_import_fault = isinstance(fault, ImportError | AttributeError)
    return message if is_import_fault else f"{type(fault).__name__}: {message}"
