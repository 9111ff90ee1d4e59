"""Gaussian-process regression over sizes, with a straight line through 0 as the prior mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def posterior_mean(
    sizes: Sequence[float],
    values: Sequence[float],
    at: Sequence[float],
    length: float,
    noise: float,
) -> list[float]:
    """Return the posterior mean at the sizes ``at``, given at least one measured value per size.

    RBF kernel exp(-d^2 / (2 length^2)); ``noise`` is a share of the largest value. The prior mean
    is the best line through the origin.
    """
    x, y, new = (np.asarray(row, dtype=np.float64) for row in (sizes, values, at))
    # Scaled so that the kernel's variance of 1 and the noise as a share fit any unit of rows.
    scale = float(np.abs(y).max()) or 1.0
    slope = float(x @ y) / float(x @ x)
    # The noise on the diagonal keeps this solvable where sizes lie close together.
    weights = np.linalg.solve(
        _kernel(x, x, length) + noise**2 * np.eye(len(x)), (y - slope * x) / scale
    )
    mean: Floats = slope * new + scale * (_kernel(new, x, length) @ weights)
    return [float(value) for value in mean]


def _kernel(a: Floats, b: Floats, length: float) -> Floats:
    kernel: Floats = np.exp(-((a[:, None] - b[None, :]) ** 2) / (2 * length**2))
    return kernel
