"""For any recording and size, no target of a replay is outside the limits; the lines are JSON."""

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.model import Limits, Observation
from rheostat.policies.registry import POLICIES
from rheostat.replay.recording import by_application
from rheostat.replay.replayer import Request, as_line, replay
from rheostat.replay.validate import Moment

rates = st.none() | st.floats(0, 1e9)
shares = st.none() | st.floats(0, 1)
rows = st.builds(
    Observation,
    t_s=st.just(0.0),
    executors=st.none() | st.integers(0, 50),
    input_rows_per_s=rates,
    processed_rows_per_s=rates,
    output_rows_per_s=rates,
    lag_rows=rates,
    lag_s=rates,
    busy=shares,
    idle=shares,
    cpu=shares,
    batch_s=rates,
    trigger_s=st.none() | st.just(1.0),
    backpressure_ms_per_s=st.none() | st.floats(0, 1000),
)


@settings(max_examples=60, deadline=None)
@given(
    recorded=st.lists(rows, min_size=1, max_size=8),
    policy=st.sampled_from(list(POLICIES)),
    low=st.integers(1, 9),
    room=st.integers(0, 9),
    step_s=st.sampled_from([0.5, 15.0, 90.0]),
    interval_s=st.none() | st.sampled_from([7.0, 60.0]),
    fed_back=st.booleans(),
)
def test_replay_targets_stay_within_the_limits(
    recorded, policy, low, room, step_s, interval_s, fed_back
):
    moments = [Moment(f"row {n}", replace(row, t_s=n * step_s)) for n, row in enumerate(recorded)]
    limits = Limits.between(low, low + room)
    request = Request(
        policy=policy, limits=limits, interval_s=interval_s, initial=low if fed_back else None
    )
    for item in replay(by_application(moments), request):
        assert low <= json.loads(as_line(item))["target"] <= low + room
