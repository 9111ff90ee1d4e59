"""The constants of ``predictive`` with its forecasts and capacity models, as one value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Constants with their units; ``benchmarks/ablation.py`` varies them.

    They were chosen on the loads of ``experiments/predictive.yaml``, seeds 300 to 302, 311 to 313
    and 711 to 715, and on random jobs. docs/evidence/predictive.md has the ablation of each rule.
    """

    # Objective.
    late_share: float = 0.008
    """Share of all rows that may be late, ten times as much in five minutes. The objective allows
    1 % and 10 %; the rest covers errors of the models."""

    latency_target: float = 0.95
    """Share of the SLO: batches that just meet it queue up at any disturbance."""

    warm_up_headroom: float = 0.35
    """Share of the SLO by which the target is lower at first, if executors start as slowly as the
    SLO."""

    fixed_cost_factor: float = 2.5
    """Least target in fixed costs of a batch: below twice the fixed cost no size meets it."""

    # Differences that count.
    resolution: float = 0.05
    """Least relative difference that counts: of two predictions, or of the rows of two batches.
    Batches are assumed to last longer by as much after a scale-in; without it a recorded job
    flaps."""

    clear_factor: float = 1.5
    """Ratio above which a difference is no noise: of a batch time to its prediction, of the backlog
    to a batch, of the largest task to the mean one; also of slots to the largest observed number,
    up to which contention is extrapolated."""

    late_s: float = 0.1
    """Late rows, in seconds of arrivals, that are ignored: the simulation is not more accurate."""

    cases: int = 5
    """Independent cases from which a model is judged: predicted batches, or multiples of a horizon
    in the history (one ramp over a minute is a single case, however many observations it has)."""

    few: int = 3
    """Fewest samples that show a level: batches at a size, means of five seconds in a rise."""

    # Start of executors.
    start_z: float = 1.28
    """Start time used for planning, in standard deviations: 90 % of starts are quicker."""

    start_z_surge: float = 2.0
    """Start time until executors are back after a scale-in: 98 % of starts are quicker."""

    start_z_likely: float = 0.67
    """Start time in the expected loss of a surge: 75 % of starts are quicker."""

    start_weight: float = 0.4
    """Weight of the newest start; twice as much of the first one."""

    lost_s: float = 300.0
    """Executors that have not started after this time are no longer expected."""

    # Batch model.
    batch_weight: float = 0.2
    """Weight of the newest batch in bias and skew, half of it in the spread; also of the newest
    interval between two decisions."""

    size_weight: float = 0.3
    """Weight of the newest batch in the work at a size, and of the newest cold batch."""

    batch_forget: float = 0.02
    """Share of its information that a batch replaces: one counts half after 35 batches, so that
    rows whose cost doubles within an hour are followed."""

    size_forget: float = 0.1
    """Share of the earlier comparisons of two sizes that a new one replaces."""

    contention_prior: float = 0.04
    """Weight of no contention: (4 % error of a comparison / expected exponent 0.2) squared.
    Measured curves have exponents of 0.2 to 0.25."""

    least_slope: float = 0.75
    """Least slope of batch time over task time, because a batch ends after its tasks. At one size
    and a constant rate noise may show a slope of 0, with which executors make no difference."""

    overdue: float = 0.1
    """Share of its duration that an overdue batch is expected to last longer."""

    # Forecast.
    known_s: float = 600.0
    """Time in seconds after which half of the load's behaviour is known and warm-up ends."""

    trend_steps: int = 12
    """Steps of the long trend and of the shortest period; half as many of the level."""

    damping: float = 0.8
    """Share of a trend that continues."""

    sharpness: float = 4.0
    """An expert with twice the error of the best one has e^-4 of its weight."""

    half_life: int = 40
    """Steps after which an error counts half; fewest similar moments from which a rise is taken."""

    prior_errors: tuple[float, float, float] = (0.0, 0.08, 0.25)
    """Errors assumed before there are samples (50 %, 90 %, 99 %), as shares of the rate."""

    prior_steps: float = 15.0
    """Weight of these errors in steps."""

    # Period, by the autocorrelation of the rates.
    period_correlation: float = 0.7
    """Least correlation at the period; noise and random walks hardly reach it."""

    period_drop: float = 0.5
    """Least drop of the correlation at shorter shifts: a slow drift correlates at every shift."""

    # Surges.
    rare_share: float = 0.002
    """Share of similar past moments that were followed by a larger rise than the worst surge."""

    similar: float = 0.3
    """Moments are similar if the logarithms of rate and change differ by less."""

    similar_share: float = 0.35
    """Share of all moments, the most similar ones, that is taken where fewer are similar."""

    rise: float = 1.1
    """Growth of the rate, if it continues until executors help, above which a surge without
    precedent is assumed during warm-up."""

    surge_follow_s: float = 60.0
    """Seconds that a surge is simulated after executors have returned and the SLO has passed."""


TUNING = Tuning()
"""The values in use."""
