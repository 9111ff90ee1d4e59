import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.policies.rates.flink_capacity import (
    Demand,
    aligned,
    is_ineffective,
    scaled,
    true_rate,
    with_demand,
)


@pytest.mark.parametrize(
    ("demand", "utilization", "with_restart", "capacity"),
    [
        (Demand(700.0, 0.0, 0.0, 300.0), 0.7, True, 1000.0),  # no catch-up time: no restart term
        (Demand(700.0, 0.0, 1800.0, 300.0), 0.7, True, 1117.0),  # + 700 x 300 / 1800 = 116.67
        (Demand(700.0, 100.0, 1800.0, 300.0), 0.7, True, 1217.0),
        (Demand(700.0, 100.0, 1800.0, 300.0), 0.7, False, 1100.0),
        (Demand(700.0, 0.0, 1800.0, 300.0), 1.3, False, 700.0),  # utilization is clamped to 1
        (Demand(700.0, 0.0, 1800.0, 300.0), 0.0, True, math.inf),
        (Demand(0.5, 0.0, 0.0, 0.0), 1.0, False, 1.0),  # rounded half up
    ],
)
def test_capacity_follows_the_formula(demand, utilization, with_restart, capacity):
    assert demand.capacity(utilization, with_restart) == capacity


@pytest.mark.parametrize(
    ("busy", "observed", "expected"),
    [
        (100.0, None, 100.0),
        (114.0, 100.0, 114.0),
        (116.0, 100.0, 100.0),
        (math.inf, 100.0, 100.0),
        (math.inf, None, math.inf),
        (80.0, 100.0, 80.0),
    ],
)
def test_the_observed_rate_replaces_an_optimistic_busy_time(busy, observed, expected):
    assert true_rate(busy, observed, 0.15) == expected


@pytest.mark.parametrize(
    ("p", "target", "rate", "size"),
    [
        (10, 500.0, 1000.0, 5),
        (10, 510.0, 1000.0, 6),
        (10, 100.0, 1000.0, 4),
        (10, 0.0, math.inf, 4),
        (10, 3000.0, 1000.0, 30),
        (1, 1e9, 1.0, 100_001),
    ],
)
def test_the_factor_is_clamped_and_the_size_rounded_up(p, target, rate, size):
    assert scaled(p, target, rate, 0.6, 100_000.0) == size


@pytest.mark.parametrize(
    ("p_new", "p", "partitions", "mode", "size"),
    [
        (7, 4, 24, "BALANCED", 8),  # floor(24 / 7) = 3: 8 is the smallest with at most 3 each
        (9, 4, 24, "BALANCED", 12),
        (7, 4, 24, "OFF", 7),
        (5, 4, 24, "EVENLY_SPREAD", 6),
        (13, 4, 24, "EVENLY_SPREAD", 24),
        (13, 4, 24, "BALANCED", 24),
        (30, 4, 24, "BALANCED", 30),  # more slots than partitions: nothing to align
        (9, 11, 24, "BALANCED", 9),  # 12 would exceed the current size: a scale-in ends at p
        (9, 12, 24, "BALANCED", 12),
        (5, 4, 7, "EVENLY_SPREAD", 7),
    ],
)
def test_sizes_align_with_partitions(p_new, p, partitions, mode, size):
    assert aligned(p_new, p, partitions, 200, mode) == size


@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 400), st.integers(1, 400))
def test_the_closed_form_matches_flinks_search(p_new, p, partitions, most):
    end = min(partitions, most if p_new > p else p)
    searched = (
        q
        for q in range(p_new, end + 1)
        if partitions % q == 0 or partitions // q < partitions // p_new
    )
    assert aligned(p_new, p, partitions, most) == next(searched, p_new)


def test_the_largest_demand_of_the_window_comes_first():
    demands: list[Any] = []
    for t, p in [(0.0, 3), (60.0, 5), (120.0, 2), (180.0, 4)]:
        demands = with_demand(demands, t, p, t == 60.0, 150.0)
    assert demands == [[60.0, 5, True], [180.0, 4, False]]
    assert with_demand(demands, 210.0, 1, True, 150.0)[0] == [60.0, 5, True]
    assert with_demand(demands, 211.0, 1, True, 150.0)[0] == [180.0, 4, False]


@pytest.mark.parametrize(
    ("rate", "ineffective"), [(1000.0, True), (1049.0, True), (1051.0, False), (900.0, True)]
)
def test_a_scale_out_with_less_than_a_tenth_of_the_gain_is_ineffective(rate, ineffective):
    assert is_ineffective(rate, 1000.0, 1500.0, 0.1) is ineffective


@pytest.mark.parametrize(
    ("catch_up_s", "catch_up", "up_below", "down_above"),
    [(0.0, 0.0, 778.0, 1000.0), (2.0, 350.0, 1128.0, 1700.0), (2.0, 0.0, 778.0, 1350.0)],
)
def test_thresholds_match_the_operators_example(catch_up_s, catch_up, up_below, down_above):
    # Target 700 rows/s, utilization between 0.7 and 0.9, a restart of 1 s.
    demand = Demand(700.0, catch_up, catch_up_s, 1.0)
    assert (demand.capacity(0.9, False), demand.capacity(0.7, True)) == (up_below, down_above)
    assert (demand.capacity(1.0, False), demand.capacity(0.0, True)) == (700.0 + catch_up, math.inf)


@pytest.mark.parametrize(
    ("p", "target", "rate", "utilization", "max_down", "max_up", "size"),
    [
        (2, 100.0, 40.0, 0.5, 0.6, 1e5, 10),
        (2, 100.0, 100.0, 0.6, 0.6, 1e5, 4),
        (10, 10.0, 100.0, 1.0, 0.5, 1e5, 5),
        (10, 10.0, 100.0, 1.0, 0.6, 1e5, 4),
        (10, 200.0, 10.0, 1.0, 0.6, 0.5, 15),
        (10, 200.0, 10.0, 1.0, 0.6, 0.6, 16),
    ],
)
def test_sizes_match_the_operators_examples(p, target, rate, utilization, max_down, max_up, size):
    assert (
        scaled(p, Demand(target, 0.0, 0.0, 0.0).capacity(utilization, True), rate, max_down, max_up)
        == size
    )


@pytest.mark.parametrize(("rate", "ineffective"), [(94.0, True), (98.0, True), (100.0, False)])
def test_ineffectiveness_matches_the_operators_example(rate, ineffective):
    assert is_ineffective(rate, before=90.0, expected=180.0, threshold=0.1) is ineffective
