"""The law of a generated load as a Markov chain of rates: what is known without its future."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rheostat.errors import BadInput
from rheostat.sim.plant import Floats
from rheostat.sim.workload import Constant, Workload
from rheostat_lab.loads.bursts import Bursts
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.espa import Espa
from rheostat_lab.loads.ramp import Ramp
from rheostat_lab.loads.scaled import Scaled
from rheostat_lab.loads.steps import Steps
from rheostat_lab.loads.walk import Walk

# Five levels of the uniform noise have its mean and 4 % less than its variance.
_NOISE_LEVELS = 5
_WALK_LEVELS = 25


@dataclass(frozen=True, slots=True)
class Law:
    """The rates by step and level (rows per second), the probabilities of the first levels, and
    those of each next level by step and level.
    """

    rates: Floats
    first: Floats
    moves: tuple[Floats, ...]


def law_of(load: Workload, duration_s: float, step_s: float) -> Law:
    """Return the law of a load on steps of ``step_s`` seconds.

    The noise of a cosine becomes 5 equally likely rates, a walk becomes a chain of 25 rates, and
    bursts have their two rates; a deterministic load is its own law with one level, and a
    profile of ESPA has the law of its load. Raises BadInput for an unknown law (traces, sums).
    """
    steps = max(2, round(duration_s / step_s))
    middles: Floats = (np.arange(steps, dtype=float) + 0.5) * step_s
    if isinstance(load, Espa):
        load = Scaled(load.unscaled, factor=load.scale)
    if isinstance(load, Scaled):
        inner = law_of(load.load, duration_s * load.speed, step_s * load.speed)
        return Law(inner.rates * load.factor, inner.first, inner.moves)
    if isinstance(load, Cosine):
        return _cosine(load, middles)
    if isinstance(load, Bursts):
        return _bursts(load, steps, step_s)
    if isinstance(load, Walk):
        return _walk(load, middles)
    if isinstance(load, Constant | Day | Ramp | Steps):
        return Law(
            np.array([[load.rate_per_s(t)] for t in middles]),
            np.ones(1),
            (np.ones((1, 1)),) * (steps - 1),
        )
    kind = type(load).__name__.lower()
    raise BadInput(
        f"the law of a load of kind {kind} is not known; there are cosine, bursts, walk and loads"
        " without chance"
    )


def _cosine(load: Cosine, middles: Floats) -> Law:
    held = np.floor(middles / load.hold_s)
    # The midpoints of equal parts of (-1, 1).
    levels = (2 * np.arange(_NOISE_LEVELS) + 1) / _NOISE_LEVELS - 1
    wave = load.shift + load.amplitude * np.cos(2 * np.pi * held * load.hold_s / load.period_s)
    fresh, same = np.full((_NOISE_LEVELS, _NOISE_LEVELS), 1 / _NOISE_LEVELS), np.eye(_NOISE_LEVELS)
    # The noise is constant within a hold, and is drawn again at its end.
    moves = tuple(fresh if changes else same for changes in np.diff(held) > 0)
    return Law(np.maximum(0.0, wave[:, None] + load.noise * levels[None, :]), fresh[0], moves)


def _bursts(load: Bursts, steps: int, step_s: float) -> Law:
    # An exponential time is memoryless, so one probability per step describes its complete law.
    begins, ends = (1 - math.exp(-step_s / mean_s) for mean_s in (load.quiet_s, load.burst_s))
    move = np.array([[1 - begins, begins], [ends, 1 - ends]])
    return Law(
        np.tile([load.quiet, load.burst], (steps, 1)), np.array([1.0, 0.0]), (move,) * (steps - 1)
    )


def _walk(load: Walk, middles: Floats) -> Law:
    held = np.floor(middles / load.hold_s)
    drift = max(0.0, load.up + load.down) / 2 * held[-1]
    most = min(
        load.ceiling, load.start + drift + 3 * max(load.up, -load.down) * math.sqrt(held[-1] + 1)
    )
    rates = np.linspace(0.0, most, _WALK_LEVELS)
    # The midpoints of 200 equal parts represent the uniform step.
    draws = load.down + (load.up - load.down) * (np.arange(200) + 0.5) / 200
    # The absolute value is the reflection at 0; the end of the grid represents the maximum.
    move = np.stack([_nearest(np.abs(rate + draws), rates) for rate in rates])
    moves = tuple(move if changes else np.eye(_WALK_LEVELS) for changes in np.diff(held) > 0)
    return Law(np.tile(rates, (len(middles), 1)), _nearest(np.array([load.start]), rates), moves)


def _nearest(values: Floats, rates: Floats) -> Floats:
    """Return the probabilities of the rates for equally likely values; a value between two rates
    counts for both in proportion, so that the mean is preserved.
    """
    place = np.interp(values, rates, np.arange(len(rates)))
    below = np.minimum(place.astype(np.int64), len(rates) - 2)
    share = np.bincount(below, 1 - (place - below), len(rates)) + np.bincount(
        below + 1, place - below, len(rates)
    )
    return np.asarray(share / share.sum(), dtype=np.float64)
