"""Possible future rates: surges observed at similar rates, each with its frequency."""

from collections.abc import Callable

from rheostat.signals.forecasts.rate_history import RateHistory, Rates, with_rate
from rheostat.signals.forecasts.surges import surges


def observed_rates(rate: Callable[[float], float], seconds: float) -> Rates:
    history = RateHistory()
    for n in range(int(seconds / 5)):
        history = with_rate(history, 5.0 * n, rate(5.0 * n))
    return Rates(history)


def bursts(t_s: float) -> float:
    return 4000.0 if t_s % 900 > 750 else 1000.0


def test_a_past_burst_is_predicted_with_its_frequency() -> None:
    result = surges(observed_rates(bursts, 3900), 60.0)
    likely = result.above(2000.0)
    assert likely is not None
    assert likely.rate == 4000.0
    assert 60 / 900 <= likely.share <= 0.15
    assert result.worst.rate == 4000.0


def test_a_burst_is_immediate_and_a_ramp_is_gradual() -> None:
    rates = observed_rates(lambda t_s: 1000.0 + abs(1500 - t_s), 2000)
    ramp = surges(rates, 90.0).worst
    assert ramp.path(rates.now, 60.0)[0][1] < ramp.rate
    burst = surges(observed_rates(bursts, 3900), 60.0).worst
    assert burst.path(1000.0, 60.0) == [(0.0, 4000.0), (60.0, 4000.0)]


def test_during_a_burst_no_higher_one_is_predicted() -> None:
    assert surges(observed_rates(bursts, 3600), 60.0).worst.rate == 4000.0
    assert surges(observed_rates(bursts, 3600), 60.0).above(4000.0) is None


def test_a_slow_start_faces_larger_surges_than_a_fast_one() -> None:
    rates = observed_rates(lambda t_s: 1000.0 + abs(1500 - t_s), 2000)
    assert surges(rates, 90.0).worst.rate > surges(rates, 10.0).worst.rate


def test_unprecedented_surges_shrink_with_the_observed_time() -> None:
    short, long = observed_rates(lambda _: 1000.0, 60), observed_rates(lambda _: 1000.0, 7200)
    assert surges(short, 60.0).unprecedented.rate > 1.8 * 1000
    assert surges(long, 60.0).unprecedented.rate < 1.1 * 1000


def test_an_expected_peak_shrinks_with_the_observed_time() -> None:
    short, long = observed_rates(lambda _: 1000.0, 60), observed_rates(lambda _: 1000.0, 7200)
    assert surges(short, 60.0, expected=5000.0).unprecedented.rate > 0.9 * 5000
    assert surges(long, 60.0, expected=5000.0).unprecedented.rate < 1.4 * 1000


def test_an_announced_rate_can_occur_at_any_time() -> None:
    worst = surges(observed_rates(lambda _: 1000.0, 7200), 60.0, announced=5000.0).worst
    assert worst.path(1000.0, 60.0) == [(0.0, 5000.0), (60.0, 5000.0)]


def test_an_observed_rate_above_the_announced_one_is_used() -> None:
    assert surges(observed_rates(bursts, 3900), 60.0, announced=2000.0).worst.rate == 4000.0
