"""An experiment as a file says it; everything is checked before anything is started."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from rheostat.errors import BadInput

EXPERIMENTS = ("snapshot", "load-by-size", "load-by-parallelism", "downtime")
WAYS = ("live", "restart", "repartition")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What is measured: state of each of ``sizes_mb`` in ``partitions`` state partitions, values of
    ``value_bytes``, each cell ``repetitions`` times.

    ``parallelism`` is the number of tasks that share the partitions (snapshots, loads), or the
    number of executors that a job is brought to, one after the other (downtimes), by each of
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
    """Return the experiment of a YAML file; raises BadInput for what it cannot be."""
    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise BadInput(f"{path} cannot be read as YAML: {error}".splitlines()[0]) from None
    if not isinstance(read, dict):
        raise BadInput(f"{path} must have names and values, as experiment: downtime")
    known = {each.name for each in fields(Spec)}
    if unknown := [name for name in read if name not in known]:
        raise BadInput(f"{path} has {unknown[0]!r}; it may have {', '.join(sorted(known))}")
    if "experiment" not in read:
        raise BadInput(f"{path} must say experiment: {', '.join(EXPERIMENTS)}")
    return Spec(**{name: _listed(value) for name, value in read.items()})


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _require(name: str, values: Any, least: int) -> None:
    wrong = [each for each in values if isinstance(each, bool) or not isinstance(each, int)]
    wrong += [each for each in values if isinstance(each, int) and each < least]
    if wrong or not values:
        said = wrong[0] if wrong else "nothing"
        raise BadInput(f"{name} must be whole numbers from {least}, but there is {said!r}")
