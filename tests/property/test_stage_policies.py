"""Policies that read stages, busy shares and executors tolerate any values, including absent and
invalid numbers."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.model import ExecutorSample, Observation, Stage
from rheostat.policies.registry import create
from rheostat.testing.contracts import follow

NAMES = (
    "catch-up",
    "conttune",
    "daedalus",
    "drs",
    "ds2",
    "ds2-modern",
    "ds2-modern-adapted",
    "flink",
)
QUICK = {
    "flink": {
        "metrics_window_s": 20.0,
        "stabilization_interval_s": 0.0,
        "scale_down_interval_s": 0.0,
    },
    "daedalus": {"first_s": 0.0},
}

numbers = st.none() | st.sampled_from([0.0, 1.0]) | st.floats(1e-6, 1e12)
broken = numbers | st.sampled_from([math.nan, math.inf, -1.0])
shares = st.none() | st.floats(0.0, 1.0)
names = st.sampled_from(["a", "b", "c", "kafka"])
stages = st.builds(
    Stage,
    name=names,
    upstream=st.lists(names, max_size=2).map(tuple),
    rows_in=broken,
    rows_out=numbers,
    busy_s=broken,
    tasks=st.none() | st.integers(0, 500),
    pending=st.none() | st.integers(0, 10**9),
)
workers = st.dictionaries(
    names, st.builds(ExecutorSample, cpu=shares, rows_per_s=numbers), max_size=3
)
observations = st.builds(
    Observation,
    t_s=st.floats(0, 600),
    executors=st.none() | st.integers(0, 300),
    slots_per_executor=st.none() | st.integers(0, 16),
    input_rows_per_s=broken,
    inputs=st.none() | st.dictionaries(names, broken.filter(lambda n: n is not None), max_size=3),
    processed_rows_per_s=broken,
    lag_rows=broken,
    lag_s=broken,
    busy=shares | broken,
    cpu=shares | broken,
    batch_s=broken,
    batch_rows=st.none() | st.integers(0, 10**9),
    trigger_s=st.sampled_from([None, 0.0, 1.0]),
    backpressure_ms_per_s=st.floats(0, 1000),
    stages=st.none() | st.lists(stages, min_size=1, max_size=4).map(tuple),
    by_executor=st.none() | workers,
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20, deadline=None)
@given(script=st.lists(observations, min_size=1, max_size=6))
def test_any_observations_give_integer_sizes_reasons_and_json_memory(name, script):
    decisions, memory = follow(create(name, QUICK.get(name)), script)
    for decision in decisions:
        assert type(decision.target) is int
        assert decision.reason
        json.dumps(dict(decision.evidence), allow_nan=False)
    json.dumps(memory, allow_nan=False)
