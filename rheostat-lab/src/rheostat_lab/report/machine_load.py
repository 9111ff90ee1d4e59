"""How busy the machine was in a part of a run, and whether that can explain a bad number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from rheostat_lab.report.finished_run import MachineSample

FULL = 0.9
"""CPU in use per core from which on work waits; a mean of two seconds hides shorter waits."""

QUEUED = 2.0
"""Load per core from which on each process has at most half a core."""

OTHERS = 0.25
"""CPU per core of other programs that is significant: a quarter of the machine."""


@dataclass(frozen=True, slots=True)
class MachineLoad:
    """Means over some time, per core; None is unknown."""

    cpu: float
    cpu_max: float
    own_cpu: float | None
    load: float | None
    load_max: float | None

    @property
    def others_cpu(self) -> float | None:
        """CPU used by programs other than the run's."""
        # The means may cover different samples if some lack a part, so the difference may be below
        # 0.
        return None if self.own_cpu is None else max(0.0, self.cpu - self.own_cpu)

    @property
    def busy(self) -> bool:
        """Whether work waited for a CPU, or other programs used a significant part of it."""
        return (
            self.cpu >= FULL
            or (self.load is not None and self.load >= QUEUED)
            or (self.others_cpu is not None and self.others_cpu >= OTHERS)
        )

    def in_words(self) -> str:
        """Return the numbers in one line."""
        others = self.others_cpu
        parts = [
            f"CPU {self.cpu * 100:.0f} % in use",
            "" if others is None else f"{others * 100:.0f} % by other programs",
            "" if self.load is None else f"{self.load:.1f} processes a core ran or waited",
        ]
        return ", ".join(part for part in parts if part)


def machine_load(
    samples: Sequence[MachineSample], from_s: float, to_s: float
) -> MachineLoad | None:
    """Return the load from ``from_s`` to ``to_s`` (Unix seconds); None without a sample."""
    inside = [sample for sample in samples if from_s <= sample.t_s <= to_s]
    if not inside:
        return None
    own = [sample.own_cpu for sample in inside if sample.own_cpu is not None]
    loads = [sample.load for sample in inside if sample.load is not None]
    return MachineLoad(
        cpu=fmean(sample.cpu for sample in inside),
        cpu_max=max(sample.cpu for sample in inside),
        own_cpu=fmean(own) if own else None,
        load=fmean(loads) if loads else None,
        load_max=max(loads, default=None),
    )
