from __future__ import annotations

import statistics
from itertools import pairwise

import pytest

from rheostat_lab.loads.bursts import Bursts
from rheostat_lab.loads.spikes import Spikes
from rheostat_lab.loads.walk import Walk

MINUTES = range(4000)


def test_a_walk_starts_at_its_start_rate_and_moves_within_its_steps() -> None:
    load = Walk(start=50_000, down=-1000, up=2000, seed=3)
    rates = [load.rate_per_s(60 * i) for i in range(30)]
    moves = [late - early for early, late in pairwise(rates)]
    assert rates[0] == 50_000
    assert all(-1000 <= move <= 2000 for move in moves)
    assert len(set(moves)) == len(moves)


def test_the_steps_of_a_walk_have_the_specified_mean_and_spread() -> None:
    load = Walk(start=1e6, down=-1000, up=1000, ceiling=1e9)
    rates = [load.rate_per_s(60 * i) for i in MINUTES]
    moves = [late - early for early, late in pairwise(rates)]
    assert abs(statistics.mean(moves)) < 4 * 577 / len(moves) ** 0.5
    assert statistics.stdev(moves) == pytest.approx(2000 / 12**0.5, rel=0.05)


def test_a_walk_is_reflected_at_zero_and_at_its_ceiling() -> None:
    load = Walk(start=500, down=-400, up=400, ceiling=1000)
    rates = [load.rate_per_s(60 * i) for i in MINUTES]
    assert min(rates) >= 0
    assert max(rates) <= 1000
    assert statistics.mean(rates) == pytest.approx(
        500, rel=0.15
    )  # reflection at both ends makes it uniform


def test_spikes_have_the_specified_frequency_length_and_height() -> None:
    load = Spikes(low=100, high=200, chance=0.1, longest=3)
    heights = [load.rate_per_s(60 * i) for i in MINUTES]
    lengths = [len(run) for run in "".join("x" if height else " " for height in heights).split()]
    assert set(lengths) == {1, 2, 3}
    assert statistics.mean(lengths) == pytest.approx(2, abs=0.2)
    assert {100 <= height <= 200 for height in heights if height} == {True}
    # A cycle has 10 steps of waiting and 2 of the spike: one step in six.
    assert sum(map(bool, heights)) / len(heights) == pytest.approx(2 / 12, abs=0.03)


def test_bursts_hold_two_levels_for_exponential_times() -> None:
    load = Bursts(quiet=10, burst=100, quiet_s=300, burst_s=100)
    rates = [load.rate_per_s(t) for t in range(0, 800_000, 10)]
    assert set(rates) == {10, 100}
    assert rates[0] == 10
    share = rates.count(100) / len(rates)
    assert share == pytest.approx(0.25, abs=0.04)
    changes = sum(early != late for early, late in pairwise(rates))
    assert changes == pytest.approx(2 * 800_000 / 400, rel=0.15)


@pytest.mark.parametrize("kind", [Walk, Spikes, Bursts])
def test_rates_do_not_depend_on_earlier_queries(
    kind: type[Walk | Spikes | Bursts],
) -> None:
    load, other = kind(seed=11), kind(seed=12)
    late_first = [load.rate_per_s(60 * i) for i in reversed(range(2000))]
    assert late_first[::-1] == [kind(seed=11).rate_per_s(60 * i) for i in range(2000)]
    assert late_first[::-1] != [other.rate_per_s(60 * i) for i in range(2000)]
