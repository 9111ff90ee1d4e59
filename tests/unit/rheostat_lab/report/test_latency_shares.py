import pytest

from rheostat.signals.latency import Spread
from rheostat_lab.report.latency_shares import quantile_s, share_within


def test_without_rows_there_is_no_share_and_no_quantile():
    assert share_within([], 1.0) is None
    assert quantile_s([], 0.99) is None


def test_the_share_within_an_objective_splits_a_spread():
    spreads = [Spread(0.0, 4.0, 10.0), Spread(3.0, 3.0, 10.0)]
    assert [share_within(spreads, s) for s in (0.0, 2.0, 3.0, 4.0)] == [0.0, 0.25, 0.875, 1.0]


def test_a_quantile_is_accurate_to_a_millisecond():
    assert quantile_s([Spread(0.0, 10.0, 5.0)], 0.99) == pytest.approx(9.9, abs=1e-3)
    assert quantile_s([Spread(2.0, 2.0, 5.0)], 0.5) == pytest.approx(2.0, abs=1e-3)
