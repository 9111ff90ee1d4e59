"""The constants of ``predictive`` as one value, which ``benchmarks/ablation.py`` varies."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Constants with their units; docs/evidence/predictive.md has their ablation."""

    # The error budget of the objective (99 % of all rows, 90 % in each five minutes).
    late_share: float = 0.008
    """Share of all rows that may be late; the rest to 1 % covers errors of the models."""

    late_share_window: float = 0.08
    """Share of the rows of five minutes that may be late."""

    # Target latency.
    latency_target: float = 0.95
    """Share of the SLO: batches that just meet it queue up at any disturbance."""

    warm_up_headroom: float = 0.35
    """Share of the SLO by which the target is lower at first, if executors start as slowly as the
    SLO."""

    fixed_cost_factor: float = 2.5
    """Least target in fixed costs of a batch: below twice the fixed cost no size meets it."""

    # Uncertainty of the models, in standard deviations unless stated otherwise.
    model_error: float = math.log(1.5)
    """Median log error of five batches above which the batch model does not decide."""

    start_z: float = 1.28
    """Start time used for planning: 90 % of starts are quicker."""

    start_z_surge: float = 2.0
    """Start time until executors are back after a scale-in: 98 % of starts are quicker."""

    start_z_likely: float = 0.67
    """Start time in the expected loss of a surge: 75 % of starts are quicker."""

    warm_up_unknown: float = 0.5
    """Share of the load's behaviour that is unknown, above which the job is in warm-up."""

    rise: float = 1.1
    """Growth of the rate, if it continues until executors help, above which a surge without
    precedent is assumed during warm-up."""

    # Comparison of sizes.
    late_s: float = 0.1
    """Late rows, in seconds of arrivals, that are ignored: the simulation is not more accurate."""

    least_gain: float = 0.05
    """Least share of the late rows that more executors must avoid."""

    scale_in_batch_factor: float = 1.05
    """Factor on predicted batch times after a scale-in; without it a recorded job flaps."""

    # Scenarios.
    surge_follow_s: float = 60.0
    """Seconds that a surge is simulated after executors have returned and the SLO has passed."""

    surge_phase: float = 0.5
    """Share of the trigger interval that has passed when a frequent surge begins."""
