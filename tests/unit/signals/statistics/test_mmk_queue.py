import itertools
import math

import pytest

from rheostat.signals.statistics.mmk_queue import Station


def station(lam: float, mu: float, k: int) -> Station:
    result = Station(lam, mu)
    for _ in range(k):
        result = result.with_one_more()
    return result


def textbook_s(lam: float, mu: float, k: int) -> float:
    """Return C / (k mu - lam) + 1 / mu with C written out."""
    a = lam / mu
    last = a**k / math.factorial(k) * k / (k - a)
    c = last / (sum(a**n / math.factorial(n) for n in range(k)) + last)
    return c / (k * mu - lam) + 1 / mu


def test_one_server_is_the_m_m_1_queue():
    assert station(3.0, 4.0, 1).time_s == pytest.approx(1.0)  # 1 / (mu - lam)


def test_two_servers_have_the_known_sojourn_time():
    assert station(1.0, 1.0, 2).time_s == pytest.approx(4 / 3)  # C(2, 1) = 1/3


@pytest.mark.parametrize(
    ("lam", "mu", "k"), [(5.0, 2.0, 3), (5.0, 2.0, 8), (90.0, 10.0, 10), (0.1, 7.0, 1)]
)
def test_the_recursion_matches_the_textbook_formula(lam, mu, k):
    assert station(lam, mu, k).time_s == pytest.approx(textbook_s(lam, mu, k))


def test_too_few_servers_have_an_infinite_sojourn_time():
    assert station(4.0, 1.0, 4).time_s == math.inf
    assert station(4.0, 1.0, 3).time_s == math.inf


def test_additional_servers_have_diminishing_returns_down_to_the_service_time():
    times = [station(50.0, 1.0, k).time_s for k in range(51, 120)]
    gains = [early - late for early, late in itertools.pairwise(times)]
    assert all(a >= b >= 0 for a, b in itertools.pairwise(gains))
    assert station(50.0, 1.0, 1000).time_s == pytest.approx(1.0)
