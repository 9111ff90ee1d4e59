"""The parts of a simulation for any input: steps, arrivals, ledgers, quantiles, nodes, noise."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.model import Slo
from rheostat.sim.arrivals import Arrivals
from rheostat.sim.bookkeeping import Book
from rheostat.sim.engine import Events
from rheostat.sim.measures import measures, quantiles_s
from rheostat.sim.noise import Noise, streams
from rheostat.sim.plant import Steps
from rheostat_lab.loads.steps import Steps as Levels
from rheostat_lab.validation.nodes import node_use

held = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9)), min_size=1, max_size=12)
levels = st.lists(st.integers(0, 40), min_size=1, max_size=6)


def steps_of(pairs: list[tuple[int, int]]) -> Steps:
    times, values = zip(*sorted(pairs), strict=True)
    return Steps(np.array(times, dtype=float), np.array(values, dtype=float))


@settings(max_examples=30)
@given(held, st.floats(-5, 60))
def test_a_step_function_has_the_value_of_the_last_change(
    pairs: list[tuple[int, int]], t_s: float
) -> None:
    steps = steps_of(pairs)
    before = [value for at_s, value in zip(steps.t_s, steps.values, strict=True) if at_s <= t_s]
    assert steps.at(np.array([t_s]))[0] == (before[-1] if before else steps.values[0])


@settings(max_examples=30)
@given(held, st.integers(-5, 60), st.integers(0, 40), st.integers(0, 40))
def test_an_integral_is_the_sum_of_its_parts(
    pairs: list[tuple[int, int]], start_s: int, first_s: int, then_s: int
) -> None:
    steps, middle_s, end_s = steps_of(pairs), start_s + first_s, start_s + first_s + then_s
    total = steps.integral(start_s, end_s)
    assert total == pytest.approx(
        steps.integral(start_s, middle_s) + steps.integral(middle_s, end_s)
    )
    seconds = np.arange(max(start_s, int(steps.t_s[0])), end_s)
    assert total == pytest.approx(float(steps.at(seconds.astype(float)).sum()))


@settings(max_examples=30)
@given(held)
def test_changes_are_counted_but_repetitions_are_not(
    pairs: list[tuple[int, int]],
) -> None:
    steps = steps_of(pairs)
    assert steps.changes(-1.0) == sum(one != other for one, other in pairwise(steps.values))
    assert steps.changes(math.inf) == 0


@settings(max_examples=20)
@given(levels, st.lists(st.floats(-5, 80), min_size=2, max_size=8), st.integers(0, 9))
def test_cumulative_rows_are_monotone_and_invertible(
    rates: list[int], times_s: list[float], seed: int
) -> None:
    arrivals = Arrivals(Levels((*map(float, rates), 1.0), 10.0), noise=np.random.default_rng(seed))
    counts = [arrivals.rows_at(t_s) for t_s in sorted(times_s)]
    assert counts == sorted(counts)
    for row in (0.0, counts[-1] / 3, counts[-1]):
        arrival_s = arrivals.time_of(row, by_s=1e4)
        assert arrivals.rows_at(arrival_s) == pytest.approx(row, abs=1e-6)
        # More rows have arrived immediately after it, so it is the first such time.
        assert arrivals.rows_at(arrival_s + 1e-3) > row
        assert arrivals.rows_at(max(0.0, arrival_s - 1e-3)) <= row + 1e-6


@settings(max_examples=20)
@given(levels, st.floats(0, 100), st.floats(0.01, 100))
def test_the_mean_arrival_time_lies_between_the_first_and_last_row(
    rates: list[int], first: float, more: float
) -> None:
    arrivals = Arrivals(Levels((5.0, *map(float, rates), 1.0), 10.0))
    arrivals.rows_at(1e3)
    mean_s = arrivals.mean_time(first, first + more)
    assert arrivals.time_of(first, 1e4) - 1e-6 <= mean_s <= arrivals.time_of(first + more, 1e4) + 1


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), min_size=1, max_size=15))
def test_a_quantile_matches_the_sorted_rows(pieces: list[tuple[int, int]]) -> None:
    latency, rows = (np.array(column, dtype=float) for column in zip(*pieces, strict=True))
    every = sorted(s for s, count in pieces for _ in range(count))
    quantiles = []
    for share in (0.01, 0.25, 0.5, 0.9, 0.99, 1.0):
        place = max(0, math.ceil(share * len(every) * (1 - 1e-12)) - 1)
        quantiles += quantiles_s(latency, rows, (share,))
        assert quantiles[-1] == every[place]
    assert quantiles == sorted(x for x in quantiles if x is not None)


shares = st.sampled_from([0.0, 0.01, 0.5, 1.0])
commits = st.lists(st.tuples(st.floats(0.1, 9), shares), min_size=1, max_size=12)


@settings(max_examples=25)
@given(commits, st.floats(0.5, 20))
def test_a_book_accounts_for_every_row_and_its_measures_are_consistent(
    taken: list[tuple[float, float]], slo_s: float
) -> None:
    arrivals = Arrivals(Levels((8.0, 0.0, 20.0), 15.0))
    book, now, done = Book(arrivals, 2), 0.0, 0.0
    for wait_s, share in taken:
        now += wait_s
        done += share * (arrivals.rows_at(now) - done)
        book.committed(now, done)
    ledger = book.ledger(now)
    assert ledger.rows.sum() == pytest.approx(done, abs=1e-6)
    assert ledger.rows.sum() + ledger.left_rows.sum() == pytest.approx(ledger.arrived_rows)
    assert (ledger.latency_s >= 0).all()
    assert (ledger.left_age_s >= 0).all()
    result, kinder = (measures(ledger, Slo(latency_s=s)) for s in (slo_s, 2 * slo_s))
    if result.latency_p50_s is not None:
        assert result.latency_p50_s <= (result.latency_p95_s or 0) <= (result.latency_p99_s or 0)
        assert result.latency_mean_s is not None
        assert result.latency_mean_s <= float(ledger.latency_s.max()) + 1e-9
    if result.within is not None and kinder.within is not None:
        assert 0 <= result.within <= kinder.within <= 1
    assert 0 <= kinder.late_s <= result.late_s <= now + 1e-9
    assert result.lag_max_rows >= result.lag_end_rows - 1e-9


targets = st.lists(st.integers(1, 15), min_size=1, max_size=25)


@settings(max_examples=15)
@given(targets, st.integers(1, 5), st.booleans(), st.booleans(), st.sampled_from([0, 3]))
def test_nodes_hold_all_executors_and_empty_nodes_are_not_paid(
    sizes: list[int], room: int, frees: bool, packs: bool, churn: int
) -> None:
    use = node_use(sizes, room, frees_nodes=frees, packs=packs, churn=churn)
    assert use.executor_steps == sum(sizes)
    assert sum(-(-size // room) for size in sizes) <= use.node_steps <= use.executor_steps
    if room == 1:
        assert use.node_steps == use.executor_steps


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=12), st.integers(0, 12))
def test_events_run_in_time_order_and_then_in_scheduling_order(
    planned: list[tuple[int, int]], until_s: int
) -> None:
    """Each event schedules another one, once, ``later`` seconds after it."""
    events, occurred = Events(), []

    def happen(number: int, later: int) -> None:
        def first(now: float) -> None:
            occurred.append((now, number))
            events.at(now + later, lambda then: occurred.append((then, -1 - number)))

        events.at(planned[number][0], first)

    for number, (_, later) in enumerate(planned):
        happen(number, later)
    events.run(until_s)
    assert events.now == until_s
    assert [t_s for t_s, _ in occurred] == sorted(t_s for t_s, _ in occurred)
    firsts = [(t_s, number) for t_s, number in occurred if number >= 0]
    assert firsts == sorted((float(t), n) for n, (t, _) in enumerate(planned) if t <= until_s)
    assert len(occurred) - len(firsts) == sum(t + later <= until_s for t, later in planned)


@settings(max_examples=10)
@given(st.integers(0, 99), st.lists(st.integers(0, 3000), min_size=1, max_size=6))
def test_noise_factors_do_not_depend_on_the_block_size(seed: int, counts: list[int]) -> None:
    at_once, singly = (Noise(streams(seed, 1)[0], 0.3) for _ in range(2))
    parts = [factor for count in counts for factor in singly.take(count)]
    # A draw larger than a block is one draw; smaller ones come from blocks of the same generator.
    assert parts == [factor for _ in parts for factor in at_once.take(1)]
    assert all(factor > 0 for factor in parts)


def test_noise_has_a_mean_factor_of_one() -> None:
    factors = np.array(Noise(np.random.default_rng(7), 0.5).take(40_000))
    assert factors.mean() == pytest.approx(1.0, abs=4 * factors.std() / 200)


def test_without_spread_no_random_numbers_are_drawn() -> None:
    generator = np.random.default_rng(7)
    before = generator.bit_generator.state
    assert Noise(generator, 0.0).take(3) == [1.0] * 3
    assert generator.bit_generator.state == before
