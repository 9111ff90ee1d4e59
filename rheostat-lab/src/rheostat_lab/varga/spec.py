"""An experiment as specified in a file; everything is checked before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat_lab.experiment_file import spec_of, values_of

EXPERIMENTS = ("snapshot", "load-by-size", "load-by-parallelism", "downtime")
WAYS = ("live", "restart", "repartition")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """The measurements: state of each of ``sizes_mb`` in ``partitions`` state partitions, with
    values of ``value_bytes``, each cell ``repetitions`` times.

    ``parallelism`` is the number of tasks that share the partitions (snapshots, loads), or the
    numbers of executors to which a job is rescaled, one after the other (downtimes), by each of
    ``ways``.
    """

    experiment: str
    sizes_mb: tuple[int, ...] = (50,)
    parallelism: tuple[int, ...] = (8,)
    partitions: int = 24
    value_bytes: int = 1000
    repetitions: int = 2
    ways: tuple[str, ...] = WAYS

    def __post_init__(self) -> None:
        if self.experiment not in EXPERIMENTS:
            raise BadInput(
                f"experiment must be one of {', '.join(EXPERIMENTS)}, but it is {self.experiment!r}"
            )
        for name in ("sizes_mb", "parallelism"):
            _require(name, getattr(self, name), 1)
        for name in ("partitions", "value_bytes", "repetitions"):
            _require(name, (getattr(self, name),), 1)
        if unknown := [way for way in self.ways if way not in WAYS]:
            raise BadInput(f"ways are {', '.join(WAYS)}, but one is {unknown[0]!r}")
        if self.experiment != "downtime" and max(self.parallelism) > self.partitions:
            raise BadInput(
                f"parallelism must be at most partitions ({self.partitions}), but one is"
                f" {max(self.parallelism)}"
            )


def read_spec(path: Path) -> Spec:
    """Return the experiment of a YAML file; raises BadInput for an invalid one."""
    return made(path, values_of(path))


def made(path: Path, values: Mapping[str, Any]) -> Spec:
    """Return the experiment of a file that was read; raises BadInput for an invalid one."""
    return spec_of(Spec, path, values)


def _require(name: str, values: Any, least: int) -> None:
    wrong = [value for value in values if isinstance(value, bool) or not isinstance(value, int)]
    wrong += [value for value in values if isinstance(value, int) and value < least]
    if wrong or not values:
        shown = wrong[0] if wrong else "nothing"
        raise BadInput(f"{name} must be whole numbers from {least}, but there is {shown!r}")
