from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.guards import Cooldown, StaleData, guard, standard_guards
from rheostat.model import Decision, Limits, Memory, Observation
from rheostat.signals.application import combine
from rheostat.signals.statistics.windows import deriv, mean, within

rates = st.none() | st.floats(0, 1e9)
query = st.builds(
    Observation,
    t_s=st.just(1.0),
    executors=st.just(3),
    input_rows_per_s=rates,
    lag_rows=rates,
    lag_s=rates,
)
queries = st.lists(query, min_size=1, max_size=5)
samples = st.lists(st.tuples(st.floats(0, 1e6), st.floats(-1e6, 1e6)), max_size=20)


@settings(max_examples=50, deadline=None)
@given(queries=queries)
def test_the_application_lag_is_at_least_the_lag_of_every_query(queries):
    combined = combine(queries)
    assert combined is not None
    known = [q.lag_rows for q in queries if q.lag_rows is not None]
    assert (
        combined.lag_rows is None if len(known) < len(queries) else combined.lag_rows >= max(known)
    )
    assert (combined.lag_s is None) == any(q.lag_s is None for q in queries)


@settings(max_examples=50, deadline=None)
@given(queries=queries)
def test_the_order_of_queries_does_not_matter(queries):
    forward, backward = combine(queries), combine(queries[::-1])
    assert forward is not None
    assert backward is not None
    assert (forward.lag_s, forward.executors) == (backward.lag_s, backward.executors)
    assert (forward.lag_rows is None) == (backward.lag_rows is None)


@settings(max_examples=50, deadline=None)
@given(samples=samples, now=st.floats(0, 1e6), window_s=st.floats(0, 1e5))
def test_a_window_preserves_order_and_excludes_outside_samples(samples, now, window_s):
    kept = within(samples, now, window_s)
    assert kept == [sample for sample in samples if sample in kept]
    assert all(now - window_s <= t <= now for t, _ in kept)


@settings(max_examples=50, deadline=None)
@given(
    times=st.lists(st.integers(0, 10_000), min_size=2, max_size=20, unique=True),
    slope=st.floats(-100, 100),
    start=st.floats(-1e3, 1e3),
)
def test_slope_and_mean_of_a_line_are_exact(times, slope, start):
    line = [(float(t), start + slope * t) for t in times]
    assert abs((deriv(line) or 0.0) - slope) < 1e-6 * (1 + abs(slope)) * 1e3 / (
        max(times) - min(times)
    )
    assert abs((mean(line) or 0.0) - (start + slope * sum(times) / len(times))) < 1e-6 * (
        1 + abs(start) + abs(slope) * 1e4
    )


@settings(max_examples=60, deadline=None)
@given(
    requested=st.lists(st.integers(-1000, 10**9), min_size=1, max_size=10),
    size=st.none() | st.integers(0, 50),
    low=st.integers(1, 9),
    more=st.integers(0, 9),
    age_s=st.floats(-100, 100),
)
def test_guards_never_exceed_the_limits_for_any_request(requested, size, low, more, age_s):
    limits = Limits(min_executors=low, max_executors=low + more)
    memory: Mapping[str, Memory] = {}
    rules = standard_guards(limits, Cooldown(out_s=5.0, in_s=20.0), StaleData(after_s=30.0))
    for n, target in enumerate(requested):
        observation = Observation(t_s=10.0 * n + 1000 - age_s, executors=size)
        guarded = guard(
            rules, Decision(target=target, reason="asked"), observation, memory, 10.0 * n + 1000
        )
        memory = guarded.memory
        assert low <= guarded.decision.target <= low + more
        assert all(change.before != change.after for change in guarded.changes)
