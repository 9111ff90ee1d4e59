"""A linear model of the highest rate to come, learned online by recursive least squares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_FORGET = 0.999
_HARMONICS = (1, 2, 3)
_UNSURE = 1.0
"""Initial variance of a weight; the initial model predicts the last value."""

_WARM = 10
"""Number of observed peaks before the model predicts anything."""


def updated(
    model: Mapping[str, Any], t_s: float, rates: Sequence[float], ahead: int, season_s: float
) -> dict[str, Any]:
    """Return the model after the newest of ``rates`` (oldest first, one per interval)."""
    inputs = [*model.get("inputs", ()), _inputs(t_s, rates, ahead, season_s)]
    updated = {**model, "inputs": inputs[-ahead:], "seen": model.get("seen", 0)}
    if len(inputs) <= ahead or len(rates) < ahead:
        return updated
    past, scale = inputs[0][:-1], inputs[0][-1]
    weights, spread = _state(model, len(past))
    x = np.array(past)
    gain = spread @ x / (_FORGET + float(x @ spread @ x))
    missed = max(rates[-ahead:]) / scale - float(weights @ x)
    weights = weights + gain * missed
    spread = (spread - np.outer(gain, x @ spread)) / _FORGET
    spread *= min(1.0, _UNSURE * len(x) / float(np.trace(spread)))  # no wind-up at a constant rate
    return {
        **updated,
        "weights": weights.tolist(),
        "spread": spread.tolist(),
        "seen": updated["seen"] + 1,
    }


def peak(model: Mapping[str, Any]) -> float | None:
    """Return the highest rate expected in the next intervals; None before enough peaks."""
    if model.get("seen", 0) < _WARM:
        return None
    *now, scale = model["inputs"][-1]
    relative = float(np.array(model["weights"]) @ np.array(now))
    return max(0.0, relative * float(scale))


def _inputs(t_s: float, rates: Sequence[float], ahead: int, season_s: float) -> list[float]:
    """Return the features: 1, relative rate and trend, time of the season; last the mean rate."""
    recent, earlier = rates[-ahead:], rates[-2 * ahead : -ahead] or rates[-ahead:]
    mean = sum(recent) / len(recent)
    scale = max(1e-9, mean)
    slope = (mean - sum(earlier) / len(earlier)) / scale
    turn = 2 * math.pi * t_s / season_s
    season = [wave(k * turn) for k in _HARMONICS for wave in (math.sin, math.cos)]
    return [1.0, rates[-1] / scale, slope, *season, scale]


def _state(model: Mapping[str, Any], size: int) -> tuple[Any, Any]:
    if "weights" in model:
        return np.array(model["weights"]), np.array(model["spread"])
    weights = np.zeros(size)
    weights[1] = 1.0
    return weights, _UNSURE * np.eye(size)
