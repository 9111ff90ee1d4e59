"""The windows equal the recorded answers of a real Prometheus (``scripts/promql_answers.py``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rheostat.signals.statistics.windows import deriv, max_over_time, mean, rate, within

RECORDED = json.loads((Path(__file__).parent / "promql_answers.json").read_text(encoding="utf-8"))


def ours(
    function: str, samples: list[tuple[float, float]], now: float, window_s: float
) -> float | None:
    if function == "rate":
        return rate(samples, now, window_s)
    return {"deriv": deriv, "avg_over_time": mean, "max_over_time": max_over_time}[function](
        within(samples, now, window_s)
    )


@pytest.mark.parametrize("function", ["rate", "deriv", "avg_over_time", "max_over_time"])
def test_a_window_matches_the_recorded_prometheus_answer(function):
    queries = [row for row in RECORDED["answers"] if row[0] == function]
    assert sum(row[-1] is not None for row in queries) > 100
    for _, name, now, window_s, answer in queries:
        result = ours(function, RECORDED["series"][name], now, window_s)
        expected = None if answer is None else pytest.approx(answer, rel=1e-9, abs=1e-9)
        assert result == expected, f"{function}({name}[{window_s}s]) at {now}"


def test_the_recorded_version_has_windows_closed_at_both_ends():
    assert RECORDED["version"].startswith("2.42")
    queries = {tuple(row[:4]): row[4] for row in RECORDED["answers"]}
    assert queries["avg_over_time", "constant", 960.0, 60.0] is None
    assert queries["rate", "counter", 30.0, 15.0] is not None, (
        "two samples 15 s apart are both in a window of 15 s"
    )


def test_a_rate_counts_from_zero_after_a_reset():
    assert rate(
        [(0.0, 90.0), (10.0, 100.0), (20.0, 5.0), (30.0, 15.0)], 30.0, 30.0
    ) == pytest.approx((10 + 5 + 10) / 30)


@pytest.mark.parametrize("samples", [[], [(1.0, 2.0)], [(1.0, 2.0), (1.0, 5.0)]])
def test_a_rate_needs_samples_at_two_times(samples):
    assert rate(samples, 1.0, 10.0) is None


def test_a_maximum_needs_a_sample():
    assert max_over_time([]) is None
