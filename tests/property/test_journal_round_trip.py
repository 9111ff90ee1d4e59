from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.actions import Recommendation, ReplaceExecutor
from rheostat.journal.record import from_line, to_line
from rheostat.model import (
    Decision,
    ExecutorSample,
    GuardChange,
    InFlight,
    Observation,
    Record,
    Rescaling,
    Stage,
)

some = st.floats(allow_nan=False, allow_infinity=False)
maybe = st.none() | some
names = st.text(max_size=8)
counts = st.none() | st.integers(0, 2**62)
stages = st.builds(
    Stage, name=names, upstream=st.lists(names, max_size=2).map(tuple), rows_in=maybe, tasks=counts
)
observations = st.builds(
    Observation,
    t_s=some,
    application=st.none() | names,
    executors=counts,
    target=counts,
    lag_rows=maybe,
    cpu=maybe,
    batch_rows=counts,
    inputs=st.none() | st.dictionaries(names, some, min_size=1, max_size=2),
    batch_parts_s=st.none() | st.dictionaries(names, some, min_size=1, max_size=2),
    in_flight=st.none() | st.builds(InFlight, elapsed_s=some, rows=counts, tasks_done=counts),
    stages=st.none() | st.lists(stages, min_size=1, max_size=2).map(tuple),
    by_executor=st.none()
    | st.dictionaries(
        names, st.builds(ExecutorSample, cpu=maybe, state_bytes=counts), min_size=1, max_size=2
    ),
)
texts = st.lists(names, max_size=2).map(tuple)
actions = st.lists(
    st.builds(Recommendation, names) | st.builds(ReplaceExecutor, names), max_size=2
).map(tuple)
decisions = st.builds(
    Decision,
    target=st.integers(),
    reason=names,
    actions=actions,
    evidence=st.dictionaries(names, maybe | names | st.integers(), max_size=3),
)
changes = st.builds(
    GuardChange, guard=names, before=st.integers(), after=st.integers(), reason=names
)
records = st.builds(
    Record,
    t_s=some,
    observation=st.none() | observations,
    queries=st.lists(observations, max_size=2).map(tuple),
    raw=st.none() | decisions,
    guards=st.lists(changes, max_size=2).map(tuple),
    target=counts,
    actions=texts,
    rescaling=st.builds(Rescaling, phase=names, detail=names),
)


@settings(max_examples=60, deadline=None)
@given(record=records)
def test_any_record_survives_a_round_trip(record):
    line = to_line(record)
    assert from_line(line) == record
    assert line.splitlines() == [line], "no character of a name may end the line"
