"""Latency from the arrival curve equals the latency computed row by row."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rheostat.signals.latency import ArrivalCurve, mean_s
from rheostat_lab.report.latency_shares import quantile_s, share_within

PER_PIECE = 200
steps = st.lists(
    st.tuples(st.floats(0.1, 20.0), st.sampled_from([0, 0, 1, 7, 100, 1000])),
    min_size=1,
    max_size=10,
)


@settings(max_examples=60, deadline=None)
@given(steps=steps, q=st.sampled_from([0.1, 0.5, 0.9, 0.99]), wait_s=st.floats(0.0, 30.0))
def test_mean_share_and_quantile_match_sampled_rows(steps, q, wait_s):
    ends = itertools.accumulate(
        steps, lambda at, step: (at[0] + step[0], at[1] + step[1]), initial=(0.0, 0)
    )
    points = [(t, float(rows)) for t, rows in ends]
    commit_s, total = points[-1][0] + wait_s, points[-1][1]
    spreads = ArrivalCurve(points).latencies(0.0, total, commit_s)
    assert sum(spread.rows for spread in spreads) == pytest.approx(total)
    if total == 0:
        assert quantile_s(spreads, q) is None
        return
    # Between two points of the curve rows arrive evenly, so the middles of equal shares represent
    # them.
    shares = (np.arange(PER_PIECE) + 0.5) / PER_PIECE
    growing = [(low, high) for low, high in itertools.pairwise(points) if high[1] > low[1]]
    latency = np.concatenate(
        [commit_s - (low[0] + shares * (high[0] - low[0])) for low, high in growing]
    )
    weight = np.concatenate(
        [np.full(PER_PIECE, (high[1] - low[1]) / PER_PIECE / total) for low, high in growing]
    )
    assert mean_s(spreads) == pytest.approx(np.sum(latency * weight), abs=1e-6)
    slo_s = float(np.median(latency))
    assert share_within(spreads, slo_s) == pytest.approx(
        np.sum(weight[latency <= slo_s]), abs=1 / PER_PIECE
    )
    quantile = quantile_s(spreads, q) or 0.0
    assert np.sum(weight[latency <= quantile + 0.001]) >= q - 1 / PER_PIECE
    assert np.sum(weight[latency < quantile - 0.001]) <= q + 1 / PER_PIECE
