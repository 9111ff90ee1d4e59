"""The load profiles of ESPA, the published comparison of stream autoscalers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from rheostat.errors import BadInput
from rheostat.sim.workload import Workload
from rheostat_lab.loads.cosine import Cosine
from rheostat_lab.loads.spikes import Spikes
from rheostat_lab.loads.steps import Steps
from rheostat_lab.loads.sum import Sum
from rheostat_lab.loads.value_checks import above
from rheostat_lab.loads.walk import Walk

_COSINES = {"1": (150_000.0, 100_000.0), "3": (50_000.0, 25_000.0), "11": (100_000.0, 50_000.0)}
_HEIGHTS = {"1": 240_000.0, "3": 75_000.0, "11": 150_000.0}
_RAMP_FROM = 2000.0
_MINUTES = 140


@dataclass(frozen=True, slots=True)
class Espa:
    """A profile of ESPA: ``cosine``, ``cosine-spikes``, ``random-walk``, ``increase``, ``decrease``
    or ``convergence``.

    ``query`` is 1, 3 or 11 and sets the height, which ``scale`` multiplies. The convergence profile
    is 0, half, all and half of the height for 20, 40, 40 and 40 of 140 minutes; the ramps are walks
    with a drift. Rates are held for a minute.

    Sources: "Evaluating Stream Processing Autoscalers" (DEBS 2024); delftdata/espa-autoscaling,
    LoadPattern; the cosine of query 11 is that of the thesis.
    """

    profile: str = field(default="cosine", metadata={"help": "name of the profile", "unit": "1"})
    query: str = field(
        default="1", metadata={"help": "Nexmark query of the heights: 1, 3 or 11", "unit": "1"}
    )
    scale: float = field(default=1.0, metadata={"help": "multiplies every rate", "unit": "1"})
    seed: int = field(default=7, metadata={"help": "seed of the noise", "unit": "1"})

    def __post_init__(self) -> None:
        above(0, scale=self.scale)
        for name, value, known in (
            ("profile", self.profile, _PROFILES),
            ("query", self.query, _COSINES),
        ):
            if value not in known:
                raise BadInput(
                    f"{name} of workload espa must be one of {', '.join(known)}, but it is"
                    f" {value!r}"
                )

    @property
    def duration_s(self) -> float:
        """The 140 minutes of a run, in seconds."""
        return _MINUTES * 60.0

    @property
    def unscaled(self) -> Workload:
        """The load of the profile at its original height; one object serves every scale."""
        return _profile(self.profile, self.query, self.seed)

    def rate_per_s(self, t_s: float) -> float:
        """Return the rate at ``t_s``."""
        return self.scale * self.unscaled.rate_per_s(t_s)


@lru_cache(maxsize=64)
def _profile(profile: str, query: str, seed: int) -> Workload:
    return _PROFILES[profile](query, seed)


def _cosine(query: str, seed: int) -> Workload:
    shift, amplitude = _COSINES[query]
    return Cosine(shift=shift, amplitude=amplitude, seed=seed)


def _cosine_spikes(query: str, seed: int) -> Workload:
    amplitude = _COSINES[query][1]
    return Sum((_cosine(query, seed), Spikes(low=amplitude / 2, high=amplitude, seed=seed)))


def _random_walk(query: str, seed: int) -> Workload:
    return Walk(start=_COSINES[query][0], seed=seed)


def _increase(query: str, seed: int) -> Workload:
    height = _HEIGHTS[query]
    return Walk(start=_RAMP_FROM, down=-height / 30, up=height / 22, seed=seed)


def _decrease(query: str, seed: int) -> Workload:
    height = _HEIGHTS[query]
    return Walk(start=height, down=-height / 22, up=height / 30, seed=seed)


def _convergence(query: str, _seed: int) -> Workload:
    height = _HEIGHTS[query]
    twenty_minutes = (0.0, height / 2, height / 2, height, height, height / 2, height / 2)
    return Steps(twenty_minutes, hold_s=_MINUTES * 60 / len(twenty_minutes))


_PROFILES: dict[str, Callable[[str, int], Workload]] = {
    "convergence": _convergence,
    "cosine": _cosine,
    "cosine-spikes": _cosine_spikes,
    "decrease": _decrease,
    "increase": _increase,
    "random-walk": _random_walk,
}
