"""Fits the Spark plant to a recorded run and reports its error on held-out data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rheostat.errors import BadInput
from rheostat.model import Decision, Observation
from rheostat.plural import counted
from rheostat.sim.fitting.batch_fit import Fit, Pace, PacedPlant, fit
from rheostat.sim.fitting.recorded_run import Recorded, RecordedBatch, load_of
from rheostat.sim.plant import Floats, Ledger
from rheostat.sim.spark.spark_parameters import SparkParameters
from rheostat.sim.spark.spark_plant import SparkPlant

BLOCKS = 10
HELD_OUT = (3, 6, 9)
"""Indices of the held-out blocks, of ``BLOCKS`` blocks of equal duration."""

# With fewer batches the held-out error would depend on one or two of them.
_FEWEST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The error on a part of a run: of batch times, from recorded rows and executors, and of lag
    and latency, from the closed-loop plant.
    """

    batches: int
    batch_s_median: float
    """Median of |predicted / recorded - 1|."""

    batch_s_p90: float
    lag_of_peak: float
    """Root mean square of (simulated - recorded) lag over the recorded peak of the part."""
    lag_mean_of_peak: float
    """Mean of |simulated - recorded| lag over the recorded peak of the part."""
    lag_peak_ratio: float
    """Simulated peak over recorded peak."""
    latency_s_median: float | None
    """Median of |simulated / recorded - 1| of the last batch's latency; None if not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The fitted parameters, the held-out and fitted errors, and notes on missing information."""

    parameters: SparkParameters
    pace: Pace
    held_out: Errors
    fitted: Errors
    sizes: tuple[int, ...]
    """The recorded numbers of executors; other sizes are extrapolated."""

    notes: tuple[str, ...]


def calibrate(run: Recorded) -> Calibration:
    """Fit seven tenths of a run and return the errors on the 4th, 7th and 10th tenth.

    Raises BadInput if a part has fewer than 5 batches.
    """
    # Hold out blocks of time: neighbours of a single held-out batch would reveal it.
    training = [batch for batch in run.batches if _block(run, batch.end_s) not in HELD_OUT]
    held_out = [batch for batch in run.batches if _block(run, batch.end_s) in HELD_OUT]
    if min(len(training), len(held_out)) < _FEWEST:
        counts = f"{len(training)} batches to fit and {len(held_out)} held out"
        raise BadInput(f"the recording is too short: {counts}, but {_FEWEST} of each are needed")
    fitted = fit(run, training)
    simulated, _ = forced(fitted, run)
    sizes = tuple(sorted({size for _, size in run.sizes}))
    return Calibration(
        parameters=fitted.parameters,
        pace=fitted.pace,
        held_out=_errors(fitted, run, simulated, held_out, held_out=True),
        fitted=_errors(fitted, run, simulated, training, held_out=False),
        sizes=sizes,
        notes=tuple(_notes(run, sizes)),
    )


def forced(
    fitted: Fit, run: Recorded, seed: int | None = None
) -> tuple[tuple[Observation, ...], Ledger]:
    """Simulate the recorded arrivals and sizes, and return the plant's observations at the recorded
    times and its ledger; without a ``seed`` there is no noise.
    """
    # The recorded sizes include the start times of executors, so the plant must add none.
    p = replace(
        fitted.parameters, start_s=0.0, concurrent_start_s=0.0, leave_s=0.0, start_noise=0.0
    )
    quiet = replace(p, task_noise=0.0, batch_noise=0.0) if seed is None else p
    plant = PacedPlant(
        SparkPlant(quiet, load_of(run), seed=seed or 0), fitted.pace, run.starting_at
    )
    shown: list[Observation] = []
    for observation in run.observations:
        # Set the size before the observation, as it was in the recording at that moment.
        plant.rescale(
            Decision(target=run.executors_at(observation.t_s), reason="recorded"), observation.t_s
        )
        shown.extend(plant.observe(observation.t_s))
    return tuple(shown), plant.ledger()


def _block(run: Recorded, t_s: float) -> int:
    return min(BLOCKS - 1, int(BLOCKS * t_s / max(run.duration_s, 1e-9)))


def _errors(
    fitted: Fit,
    run: Recorded,
    simulated: Sequence[Observation],
    batches: Sequence[RecordedBatch],
    *,
    held_out: bool,
) -> Errors:
    # Use relative errors: batch times differ by orders of magnitude.
    off = np.abs(fitted.predicted_s(batches) / np.array([batch.batch_s for batch in batches]) - 1)
    pairs = [
        (simulated_at, recorded_at)
        for simulated_at, recorded_at in zip(simulated, run.observations, strict=True)
        if (_block(run, recorded_at.t_s) in HELD_OUT) == held_out
    ]
    lag_off, peak, ratio = _lag(pairs)
    return Errors(
        batches=len(batches),
        batch_s_median=float(np.median(off)),
        batch_s_p90=float(np.quantile(off, 0.9)),
        lag_of_peak=float(np.sqrt(np.mean(lag_off**2))) / peak,
        lag_mean_of_peak=float(np.mean(np.abs(lag_off))) / peak,
        lag_peak_ratio=ratio,
        latency_s_median=_latency(pairs),
    )


def _lag(pairs: Sequence[tuple[Observation, Observation]]) -> tuple[Floats, float, float]:
    both = np.array(
        [
            (simulated.lag_rows, recorded.lag_rows)
            for simulated, recorded in pairs
            if simulated.lag_rows is not None and recorded.lag_rows is not None
        ]
    )
    peak = max(1.0, float(both[:, 1].max()))
    return both[:, 0] - both[:, 1], peak, float(both[:, 0].max()) / peak


def _latency(pairs: Sequence[tuple[Observation, Observation]]) -> float | None:
    off = [
        abs(simulated.latency_s / recorded.latency_s - 1)
        for simulated, recorded in pairs
        if simulated.latency_s and recorded.latency_s
    ]
    return float(np.median(off)) if off else None


def _notes(run: Recorded, sizes: Sequence[int]) -> list[str]:
    """Return notes about information that the recording lacks."""
    notes = []
    if len(sizes) == 1:
        notes.append(
            f"only one size was recorded ({counted(sizes[0], 'executor')}): how slots share the"
            " work is assumed, not measured (no contention)"
        )
    if all(observation.in_flight is None for observation in run.observations):
        notes.append(
            "the number of tasks was not recorded: the source is taken to have 24 partitions"
        )
    if not any(
        observation.target is not None
        and observation.executors is not None
        and observation.target > observation.executors
        for observation in run.observations
    ):
        notes.append("no start of an executor was observed: its start time is the default")
    return notes
