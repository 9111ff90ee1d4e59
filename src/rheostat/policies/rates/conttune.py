"""ContTune (VLDB 2023): big steps out under backlog, small steps on a learned curve, else DS2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rheostat.model import Decision, Memory, Observation, hold
from rheostat.plural import counted
from rheostat.policies.parameters import ALMOST_FULL, About, Limited, parameter
from rheostat.policies.sample_order import in_order
from rheostat.signals.true_rates import is_known, job_true_rate, rounded_up

Floats = npt.NDArray[np.float64]


def posterior_mean(
    sizes: Sequence[float],
    values: Sequence[float],
    at: Sequence[float],
    length: float,
    noise: float,
) -> list[float]:
    """Return the posterior mean at the sizes ``at``, given at least one measured value per size.

    The kernel is RBF, exp(-d^2 / (2 length^2)); ``noise`` is a share of the largest value. The
    prior mean is the best-fitting line through the origin.
    """
    x, y, new = (np.asarray(row, dtype=np.float64) for row in (sizes, values, at))
    # Scaled, so that the kernel's variance of 1 and the relative noise fit any unit.
    scale = float(np.abs(y).max()) or 1.0
    slope = float(x @ y) / float(x @ x)
    # The noise on the diagonal keeps the system solvable if sizes are close together.
    weights = np.linalg.solve(
        _kernel(x, x, length) + noise**2 * np.eye(len(x)), (y - slope * x) / scale
    )
    mean: Floats = slope * new + scale * (_kernel(new, x, length) @ weights)
    return [float(value) for value in mean]


def _kernel(a: Floats, b: Floats, length: float) -> Floats:
    kernel: Floats = np.exp(-((a[:, None] - b[None, :]) ** 2) / (2 * length**2))
    return kernel


@dataclass(frozen=True, slots=True)
class ContTune(Limited):
    """Small step: the smallest p with GP(p) >= load, if a p within ``alpha`` of it was measured;
    else ceil(load / ability x p), DS2's step.

    Big step, while the lag is above ``backlog_s``: ``big`` times DS2's step, never in. GP is a
    Gaussian process with an RBF kernel of the processing ability (true rate of the job) over p.

    Our additions are the proportional prior mean, with which one measurement gives DS2's step, and
    the value of ``big``.
    """

    about: ClassVar[About] = About(
        formula=(
            "small: smallest p with GP(p) >= input_rows_per_s and |p - nearest measured| <= alpha;"
            " else ceil(load x executors / ability)\nbig (lag_s > backlog_s): max(p, ceil(big x"
            " load x executors / ability)); ability = true rate of the job"
        ),
        source=(
            "Lian et al., ContTune: Continuous Tuning by Conservative Bayesian Optimization, VLDB"
            " 2023"
        ),
        fails_when=(
            "the cost of a row changes: abilities measured before are then wrong until they have"
            " been measured again"
        ),
        steady=ALMOST_FULL,
    )

    alpha: int = parameter(
        3, "distance from a measured size within which the curve is trusted", "executors"
    )
    backlog_s: float = parameter(5.0, "event-time lag that is a backlog", "s")
    big: float = parameter(1.5, "over-provisioning while there is a backlog", "1", at_least=1)
    length: float = parameter(4.37, "length scale of the kernel", "executors", above=0)
    noise: float = parameter(
        0.02, "standard deviation of a measured ability, of the largest", "1", above=0
    )
    samples: int = parameter(5, "measurements kept per size; their mean counts", "1", above=0)
    sizes: int = parameter(20, "sizes kept: those measured last", "1", above=0)

    @in_order
    def decide(self, observation: Observation, memory: Memory) -> tuple[Decision, Memory]:
        """Return the size of the big or the small step; the reason names the step."""
        load, p, lag_s = observation.input_rows_per_s, observation.executors, observation.wait_s
        ability = job_true_rate(observation)
        state = self._with_ability(memory, p, ability)
        if not is_known(load) or not is_known(lag_s) or not p or (load > 0 and ability is None):
            why = "size kept: load, lag, executors or processing ability are unknown"
            return hold(observation, why), state
        # DS2's step, with the job as one operator.
        ds2 = max(1, rounded_up(load / ability * p)) if ability else 1
        evidence = {"load": load, "ability": ability, "lag_s": lag_s, "ds2": ds2}
        evidence["sizes_measured"] = len(state["abilities"])
        # Big step: never in while there is a backlog, whatever the curve says.
        if lag_s > self.backlog_s:
            target = max(observation.size or 1, rounded_up(self.big * ds2))
            reason = f"big step for {lag_s:.1f} s of backlog; DS2 would take {ds2}"
            return Decision(target=target, reason=reason, evidence=evidence), state
        small = self._on_the_curve(load, state["abilities"])
        origin = (
            f"DS2's step: no measured size within {self.alpha}"
            if small is None
            else "small step on the measured curve"
        )
        target = ds2 if small is None else small
        reason = f"{origin}: {counted(target, 'executor')} needed for {load:,.0f} rows/s"
        return Decision(target=target, reason=reason, evidence=evidence), state

    def _on_the_curve(self, load: float, abilities: Mapping[str, Any]) -> int | None:
        """Return the smallest size on the learned curve that carries the load, if any."""
        if not abilities:
            return None
        measured = [int(size) for size in abilities]
        # At most alpha beyond the measured sizes: further out, the curve is only its prior line.
        sizes = list(range(1, max(measured) + self.alpha + 1))
        means = [sum(rates) / len(rates) for rates in abilities.values()]
        curve = posterior_mean(measured, means, sizes, self.length, self.noise)
        able = [size for size, ability in zip(sizes, curve, strict=True) if ability >= load]
        is_near = able and min(abs(able[0] - size) for size in measured) <= self.alpha
        return able[0] if is_near else None

    def _with_ability(self, memory: Memory, p: int | None, ability: float | None) -> dict[str, Any]:
        known = dict(memory.get("abilities", {}))
        if p and ability is not None:
            # Removed and added again, so that the dictionary is in the order of the last
            # measurement.
            known[str(p)] = [*known.pop(str(p), ()), ability][-self.samples :]
        return {"abilities": dict(list(known.items())[-self.sizes :])}
