"""What a rate may reach: surges that were seen when it was like now, each as often as it came."""

from collections.abc import Callable

from rheostat.signals.forecast_history import Rates, with_rate
from rheostat.signals.forecast_rise import may_reach, never_seen


def watched(rate: Callable[[float], float], seconds: float) -> Rates:
    history: dict[str, object] = {}
    for n in range(int(seconds / 5)):
        history = with_rate(history, 5.0 * n, rate(5.0 * n))
    return Rates(history)


def bursts(t_s: float) -> float:
    return 4000.0 if t_s % 900 > 750 else 1000.0


def test_a_burst_that_was_seen_may_come_again() -> None:
    reached = may_reach(watched(bursts, 3900), 60.0)
    assert reached[-1][0] == 4000.0
    assert reached[-1][1] >= 0.03


def test_in_a_burst_no_higher_one_is_expected() -> None:
    assert may_reach(watched(bursts, 3600), 60.0)[-1][0] == 4000.0


def test_a_slow_start_has_more_to_fear_than_a_quick_one() -> None:
    rates = watched(lambda t_s: 1000.0 + t_s, 3000)
    assert may_reach(rates, 60.0)[0][0] <= rates.now  # never above what was reached
    falls = watched(lambda t_s: 1000.0 + abs(1500 - t_s), 2000)
    assert may_reach(falls, 90.0)[-1][0] >= may_reach(falls, 10.0)[-1][0]


def test_what_was_never_seen_is_feared_less_the_longer_the_load_is_watched() -> None:
    short, long = watched(lambda _: 1000.0, 60), watched(lambda _: 1000.0, 7200)
    assert never_seen(short) > 1.8 * 1000
    assert never_seen(long) < 1.1 * 1000
