"""The named moments of a load, such as the beginning of a ramp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from rheostat.sim.workload import Workload
from rheostat_lab.loads.sum import Sum


@runtime_checkable
class Marked(Protocol):
    """A workload with named moments."""

    @property
    def marks(self) -> Mapping[str, float]:
        """Seconds from the start, by name."""


def marks(workload: Workload) -> Mapping[str, float]:
    """Return a workload's named moments in seconds from the start; empty if it has none. A sum has
    the marks of all its parts; for a duplicate name, that of the first part.
    """
    if isinstance(workload, Sum):
        # Later entries of a dictionary win, so the first part comes last.
        parts = reversed(workload.parts)
        return {name: t_s for part in parts for name, t_s in marks(part).items()}
    return workload.marks if isinstance(workload, Marked) else {}
