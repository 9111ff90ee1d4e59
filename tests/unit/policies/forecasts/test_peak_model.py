import math
import random
from typing import Any

import pytest

from rheostat.policies.forecasts.peak_model import peak, updated

SEASON_S = 3600.0


def after(rates: list[float], ahead: int = 4, step_s: float = 60.0) -> dict[str, Any]:
    model: dict[str, Any] = {}
    for n in range(1, len(rates) + 1):
        model = updated(model, n * step_s, rates[max(0, n - 2 * ahead) : n], ahead, SEASON_S)
    return model


def test_no_peak_is_predicted_without_enough_samples():
    assert peak(after([100.0] * 10)) is None
    assert peak({}) is None


def test_the_predicted_peak_of_a_constant_rate_is_the_rate():
    assert peak(after([100.0] * 200)) == pytest.approx(100.0)


def test_a_learned_period_predicts_the_next_rise():
    rates = [1000 - 500 * math.cos(2 * math.pi * n / 60) for n in range(60 * 8)]
    predicted = [peak(after(rates[: 60 * 7 + n])) or 0.0 for n in (10, 20, 30)]
    actual = [max(rates[60 * 7 + n : 60 * 7 + n + 4]) for n in (10, 20, 30)]
    assert predicted == pytest.approx(actual, rel=0.05)


def test_the_predicted_peak_of_a_noisy_day_is_bounded():
    draw = random.Random(1)
    rates = [draw.uniform(50.0, 150.0) for _ in range(1440)]
    assert 50.0 < (peak(after(rates)) or 0.0) < 300.0
