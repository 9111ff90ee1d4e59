"""Every registered policy and every standard guard meets its contract; new ones are included
automatically."""

import dataclasses
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.guards import (
    Bounds,
    Budget,
    ExcludedPeriods,
    OverProvisioning,
    Schedule,
    Stabilization,
    StepLimits,
    Undo,
    guard,
    standard_guards,
)
from rheostat.model import ExecutorSample, InFlight, Limits, Observation
from rheostat.policies.parameters import parameters
from rheostat.policies.registry import POLICIES, create
from rheostat.testing.contracts import check_bounds, follow, guard_checks, minutes, policy_checks

LIMITS = Limits(min_executors=2, max_executors=6)
ALL_GUARDS = {
    "over_provisioning": OverProvisioning(),
    "stabilization": Stabilization(),
    "undo": Undo(),
    "step_limits": StepLimits(out=2, in_=1),
    "budget": Budget(slot_hours=240.0),
    "excluded_periods": ExcludedPeriods("00:01-00:02"),
    "schedule": Schedule(floor="00:02-00:03 = 5", ceiling="00:01-00:02 = 2"),
}
GUARDS = {
    rule.name: rule
    for rule in standard_guards(
        Limits(min_executors=1, max_executors=100),
        **ALL_GUARDS,  # type: ignore[arg-type]
    )
}
BETWEEN = "stays between the current and the decided size"
GOES_BEYOND = ("over_provisioning", "schedule")

numbers = st.none() | st.sampled_from([0.0, 1.0]) | st.floats(1e-6, 1e12)
shares = st.none() | st.floats(0.0, 1.0)
counts = st.none() | st.integers(0, 10_000)
samples = st.builds(ExecutorSample, cpu=shares, rows_per_s=numbers, lag_rows=numbers)
observations = st.builds(
    Observation,
    t_s=st.floats(0, 2e9),
    executors=counts,
    target=counts,
    slots_per_executor=counts,
    input_rows_per_s=numbers,
    processed_rows_per_s=numbers,
    lag_rows=numbers,
    lag_s=numbers,
    batch_s=numbers,
    batch_rows=counts,
    trigger_s=st.none() | st.sampled_from([0.0, 0.1, 1.0, 60.0]),
    in_flight=st.none() | st.builds(InFlight, elapsed_s=st.floats(0, 1e6), rows=counts),
    output_rows_per_s=numbers,
    lag_rows_upper=numbers,
    busy=shares,
    idle=shares,
    cpu=shares,
    latency_s=numbers,
    backpressure_ms_per_s=st.none() | st.floats(0.0, 1000.0),
    by_executor=st.none() | st.dictionaries(st.sampled_from("abc"), samples),
)


@pytest.mark.parametrize(
    ("name", "check"), policy_checks(), ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("policy", POLICIES)
def test_registered_policies_meet_the_contract(policy, name, check):
    check(lambda: create(policy))


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=15, deadline=None)
@given(script=st.lists(observations, min_size=1, max_size=12))
def test_registered_policies_tolerate_any_observations(policy, script):
    decisions, memory = follow(create(policy), script)
    assert all(
        type(decision.target) is int and math.isfinite(decision.target) for decision in decisions
    )
    assert json.loads(json.dumps(memory, allow_nan=False)) is not None


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=10, deadline=None)
@given(script=st.lists(observations, min_size=1, max_size=6))
def test_guarded_targets_stay_within_the_limits(policy, script):
    for decision, observation in zip(follow(create(policy), script)[0], script, strict=True):
        target = guard(
            standard_guards(LIMITS), decision, observation, {}, observation.t_s
        ).decision.target
        assert 2 <= target <= 6


# The backlog of the script is small for the half hour that deadline has.
@pytest.mark.parametrize("policy", [p for p in POLICIES if p not in ("fixed", "deadline")])
def test_the_contract_script_causes_every_policy_to_scale_out(policy):
    paces_s = (5.0, 60.0, 120.0)  # some policies observe half an hour before they decide
    assert any(
        decision.target > 3
        for step_s in paces_s
        for decision in follow(create(policy), minutes(step_s=step_s))[0]
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_registered_policies_document_themselves_and_their_parameters(policy):
    about = POLICIES[policy].about  # type: ignore[attr-defined]
    assert all((POLICIES[policy].__doc__, about.formula, about.source, about.fails_when))
    assert all({"help", "unit"} <= set(field.metadata) for field in parameters(POLICIES[policy]))
    assert all(field.default is not dataclasses.MISSING for field in parameters(POLICIES[policy]))


@pytest.mark.parametrize("policy", POLICIES)
def test_live_signals_are_fields_of_an_observation(policy):
    assert set(getattr(create(policy), "live_signals", ())) <= {
        field.name for field in dataclasses.fields(Observation)
    }


@pytest.mark.parametrize(
    ("name", "parameters_given", "needed"),
    [
        ("hpa", {}, {"cpu"}),
        ("hpa", {"metrics": "busy 0.7, lag_rows 1000 each"}, {"busy", "lag_rows"}),
        ("pid", {"signal": "cpu"}, {"cpu"}),
        ("varga-v2", {}, set()),
        ("varga-v2", {"scope": "pod"}, {"by_executor"}),
        ("ds2", {}, {"stages"}),
        ("dhalion-adapted", {}, {"cpu", "output_rows_per_s"}),
        ("dhalion-adapted", {"throughput": "source"}, {"cpu"}),
    ],
)
def test_live_signals_depend_on_the_parameters(name, parameters_given, needed):
    assert create(name, parameters_given).live_signals == needed  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "check"), guard_checks(), ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.parametrize("rule", GUARDS)
def test_standard_guards_meet_the_contract(rule, name, check):
    if name == BETWEEN and rule in GOES_BEYOND:
        with pytest.raises(AssertionError):
            check(lambda: GUARDS[rule])
    else:
        check(lambda: GUARDS[rule])


def test_bounds_are_the_last_guard_and_never_violated():
    assert isinstance(standard_guards(LIMITS)[-1], Bounds)
    check_bounds(standard_guards(LIMITS), LIMITS)
    check_bounds(standard_guards(LIMITS, **ALL_GUARDS), LIMITS)  # type: ignore[arg-type]


def test_the_registry_is_sorted():
    assert list(POLICIES) == sorted(POLICIES)
