"""Possible future rates: surges observed at similar rates, each with its frequency."""

from collections.abc import Callable

from rheostat.signals.forecasts.rate_history import RateHistory, Rates, with_rate
from rheostat.signals.forecasts.surges import surges


def watched(rate: Callable[[float], float], seconds: float) -> Rates:
    history = RateHistory()
    for n in range(int(seconds / 5)):
        history = with_rate(history, 5.0 * n, rate(5.0 * n))
    return Rates(history)


def bursts(t_s: float) -> float:
    return 4000.0 if t_s % 900 > 750 else 1000.0


def test_a_burst_that_was_seen_may_come_again_as_often_as_it_came() -> None:
    found = surges(watched(bursts, 3900), 60.0)
    likely = found.above(2000.0)
    assert likely is not None
    assert likely.rate == 4000.0
    assert 60 / 900 <= likely.share <= 0.15
    assert found.worst.rate == 4000.0


def test_a_burst_comes_at_once_and_a_ramp_does_not() -> None:
    rates = watched(lambda t_s: 1000.0 + abs(1500 - t_s), 2000)
    ramp = surges(rates, 90.0).worst
    assert ramp.path(rates.now, 60.0)[0][1] < ramp.rate
    burst = surges(watched(bursts, 3900), 60.0).worst
    assert burst.path(1000.0, 60.0) == [(0.0, 4000.0), (60.0, 4000.0)]


def test_in_a_burst_no_higher_one_is_expected() -> None:
    assert surges(watched(bursts, 3600), 60.0).worst.rate == 4000.0
    assert surges(watched(bursts, 3600), 60.0).above(4000.0) is None


def test_a_slow_start_has_more_to_fear_than_a_quick_one() -> None:
    rates = watched(lambda t_s: 1000.0 + abs(1500 - t_s), 2000)
    assert surges(rates, 90.0).worst.rate > surges(rates, 10.0).worst.rate


def test_what_was_never_seen_is_feared_less_the_longer_the_load_is_watched() -> None:
    short, long = watched(lambda _: 1000.0, 60), watched(lambda _: 1000.0, 7200)
    assert surges(short, 60.0).unprecedented.rate > 1.8 * 1000
    assert surges(long, 60.0).unprecedented.rate < 1.1 * 1000


def test_what_a_load_is_thought_to_reach_is_feared_less_the_longer_it_is_watched() -> None:
    short, long = watched(lambda _: 1000.0, 60), watched(lambda _: 1000.0, 7200)
    assert surges(short, 60.0, expected=5000.0).unprecedented.rate > 0.9 * 5000
    assert surges(long, 60.0, expected=5000.0).unprecedented.rate < 1.4 * 1000


def test_a_rate_that_was_told_may_come_at_any_time() -> None:
    worst = surges(watched(lambda _: 1000.0, 7200), 60.0, announced=5000.0).worst
    assert worst.path(1000.0, 60.0) == [(0.0, 5000.0), (60.0, 5000.0)]


def test_a_higher_rate_than_was_told_is_believed() -> None:
    assert surges(watched(bursts, 3900), 60.0, announced=2000.0).worst.rate == 4000.0
