"""Every load with any parameters is nonnegative and finite at every time, and depends only on its
parameters and the time."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.errors import BadInput
from rheostat.sim.workload import Constant, Workload
from rheostat_lab.loads.bursts import Bursts
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.due_rows import DueRows, rows_until
from rheostat_lab.loads.espa import Espa
from rheostat_lab.loads.marks import marks
from rheostat_lab.loads.prefix import length_for
from rheostat_lab.loads.ramp import Ramp
from rheostat_lab.loads.registry import WORKLOADS, create
from rheostat_lab.loads.scaled import Scaled
from rheostat_lab.loads.spikes import Spikes
from rheostat_lab.loads.steps import Steps
from rheostat_lab.loads.sum import Sum
from rheostat_lab.loads.text import with_seed
from rheostat_lab.loads.trace import Trace
from rheostat_lab.loads.walk import Walk

rates = st.floats(0, 1e6)
lengths_s = st.floats(0.5, 5000)
seeds = st.integers(0, 2**32)
steps = st.builds(Steps, st.lists(rates, min_size=1, max_size=5).map(tuple), hold_s=lengths_s)
traces = st.lists(st.tuples(st.floats(0.1, 100), rates), min_size=2, max_size=6).map(
    lambda pieces: Trace(
        tuple(sum(length for length, _ in pieces[: n + 1]) for n in range(len(pieces))),
        tuple(rate for _, rate in pieces),
    )
)
single = st.one_of(
    st.builds(Constant, rates),
    st.builds(Ramp, rates, rates, st.floats(0, 1000), lengths_s),
    st.builds(Cosine, rates, rates, rates, lengths_s, lengths_s, seed=seeds),
    st.builds(Bursts, rates, rates, st.floats(50, 900), st.floats(50, 900), seed=seeds),
    st.builds(
        Day, st.just(10.0), st.floats(10, 1e5), st.floats(60, 1e5), st.floats(0, 1), seed=seeds
    ),
    st.builds(
        Spikes, st.just(5.0), st.floats(5, 1e5), st.floats(0, 1), st.integers(1, 5), seed=seeds
    ),
    st.builds(Walk, st.floats(0, 2e6), st.floats(-1e5, 0), st.floats(0, 1e5), seed=seeds),
    st.builds(Espa, st.sampled_from(["cosine", "cosine-spikes", "increase", "convergence"])),
    steps,
    traces,
)
loads = st.one_of(
    single,
    st.builds(Sum, st.tuples(single, single)),
    st.builds(Scaled, single, st.floats(0.1, 10), st.floats(0.1, 10)),
)
moments = st.floats(-1e4, 1e4)


@settings(max_examples=25)
@given(loads, moments)
def test_every_rate_is_finite_and_non_negative(load: Workload, t_s: float) -> None:
    rate = load.rate_per_s(t_s)
    assert math.isfinite(rate)
    assert rate >= 0


@settings(max_examples=20)
@given(loads, st.lists(moments, min_size=2, max_size=6))
def test_rates_do_not_depend_on_the_query_order(load: Workload, times_s: list[float]) -> None:
    forward = [load.rate_per_s(t_s) for t_s in times_s]
    back = [load.rate_per_s(t_s) for t_s in reversed(times_s)]
    assert forward == back[::-1]


@settings(max_examples=15)
@given(loads, seeds)
def test_adding_seeds_is_additive(load: Workload, seed: int) -> None:
    assert with_seed(with_seed(load, seed), 1) == with_seed(load, seed + 1)
    assert with_seed(load, 0) == load


@settings(max_examples=15)
@given(loads)
def test_marks_and_durations_are_not_before_the_start(load: Workload) -> None:
    assert all(t_s >= 0 for t_s in marks(load).values())
    assert load.duration_s is None or load.duration_s > 0


@pytest.mark.parametrize("t_s", [-1e-20, -1e-300, -0.0, 5e-324, 239.99999999999997, 240.0])
def test_a_day_has_a_rate_at_its_exact_boundaries(t_s: float) -> None:
    assert Day(noise=0).rate_per_s(t_s) == 300


@settings(max_examples=20)
@given(steps, st.floats(0, 2000))
def test_due_rows_are_the_integral_of_the_levels(load: Steps, t_s: float) -> None:
    rounded = replace(load, hold_s=max(1.0, round(load.hold_s)))
    t_s = float(round(t_s))
    held_s = rounded.hold_s
    exact = sum(
        level * max(0.0, min(t_s, (n + 1) * held_s) - n * held_s)
        for n, level in enumerate(rounded.levels)
    )
    exact += rounded.levels[-1] * max(0.0, t_s - held_s * len(rounded.levels))
    assert rows_until(rounded, t_s, step_s=1.0) == pytest.approx(exact, rel=1e-9, abs=1)


@settings(max_examples=15)
@given(single, st.lists(st.floats(0, 60), min_size=1, max_size=8))
def test_due_rows_never_decrease(load: Workload, times_s: list[float]) -> None:
    due = DueRows(load, step_s=1.0)
    counts = [due.until(t_s) for t_s in sorted(times_s)]
    assert counts == sorted(counts)
    assert counts[0] >= 0


@settings(max_examples=30)
@given(traces, st.floats(0.1, 4), st.floats(0, 4))
def test_a_stretched_trace_keeps_its_rates(
    trace: Trace, time_scale: float, rate_scale: float
) -> None:
    played = replace(trace, time_scale=time_scale, rate_scale=rate_scale)
    assert played.duration_s == pytest.approx(trace.duration_s * time_scale)
    for share in (0.0, 0.3, 0.6, 0.99):
        at_s = share * trace.duration_s
        assert played.rate_per_s(at_s * time_scale) in {
            rate_scale * trace.rate_per_s(near_s)
            for near_s in (at_s, at_s * (1 - 1e-12), at_s * (1 + 1e-12))
        }


@given(st.integers(0, 10**9))
def test_a_prefix_length_is_sufficient_and_at_most_four_times_as_long(n: int) -> None:
    assert n < length_for(n) <= max(256, 4 * (n + 1))


def mean_rate(load: Workload, seconds: int, every_s: int = 1) -> float:
    rates = [load.rate_per_s(t_s + every_s / 2) for t_s in range(0, seconds, every_s)]
    return sum(rates) / len(rates)


def test_loads_have_their_documented_mean_rate() -> None:
    quiet_and_burst = Bursts(quiet=100, burst=1000, quiet_s=60, burst_s=20)
    assert mean_rate(quiet_and_burst, 400_000, 10) == pytest.approx(325, rel=0.05)
    assert mean_rate(Cosine(), 3600 * 8, 60) == pytest.approx(150_000, rel=0.01)
    assert mean_rate(Steps((100, 500, 0), hold_s=50), 150) == 200
    assert mean_rate(Trace((0, 10, 20), (5, 7, 9)), 30) == 7
    assert mean_rate(Scaled(Constant(10), factor=3, speed=7), 60) == 30
    assert mean_rate(Sum((Constant(10), Ramp(0, 20, 0, 60))), 60) == pytest.approx(20)


@pytest.mark.parametrize("name", [name for name in WORKLOADS if name != "trace"])
def test_loads_with_equal_parameters_are_equal(name: str) -> None:
    one, other = create(name), create(name)
    assert one == other
    assert hash(one) == hash(other)
    assert [one.rate_per_s(t) for t in range(0, 9000, 90)] == [
        other.rate_per_s(t) for t in range(0, 9000, 90)
    ]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("spikes", {"longest": 2.5}, "longest of workload spikes must be of type int, .* 2.5"),
        ("day", {"seed": 1.5}, "seed of workload day must be of type int, but it is 1.5"),
        ("constant", {"rate": True}, "rate of workload constant must be of type float"),
        ("day", {"seed": True}, "seed of workload day must be of type int, but it is True"),
        ("steps", {"levels": 5}, "levels of workload steps must be numbers with commas between"),
    ],
)
def test_a_value_of_another_type_is_rejected(
    name: str, parameters: dict[str, object], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        create(name, parameters)


def test_an_integer_parameter_may_be_written_as_a_float() -> None:
    assert create("spikes", {"longest": 2.0}) == Spikes(longest=2)
    assert create("constant", {"rate": 5}) == Constant(5.0)
