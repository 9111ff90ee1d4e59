"""What a supervisor and the job that it restarts tell each other: small files in one folder, each
replaced in one step.

The supervisor orders, the job reports, and who wants a restart leaves a wish: the loop in the job,
or a person.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from rheostat.machine.atomic_file import write_atomic

FOLDER = "restart"
"""The folder of a journal in which the mail is."""

VARIABLE = "RHEOSTAT_RESTARTS"
"""The environment variable by which a job knows that it is supervised: the folder of the mail."""

LOOP, PERSON = "loop", "person"
"""Who may wish for a restart."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the process of number ``run`` is to do: run with so many executors; ``drain``: stop its
    queries after their batches; ``once``: run one batch of each query and end.
    """

    run: int
    executors: int
    drain: bool = False
    once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What the process of number ``run`` says of itself, times in seconds since 1970.

    ``works_s``: a first batch has ended (or a first trigger without rows); ``drained_s``: all its
    queries have been stopped. ``checkpoints`` are those of queries with state, ``sinks`` the
    folders that some of these queries write files to.
    """

    run: int
    pid: int
    began: str
    works_s: float | None = None
    drained_s: float | None = None
    checkpoints: tuple[str, ...] = ()
    sinks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRequest:
    """Another size that is wanted, and why; None leaves the executors or the state partitions as
    they are. ``run`` is the process whose loop wishes, None for a person.
    """

    t_s: float
    reason: str
    executors: int | None = None
    partitions: int | None = None
    run: int | None = None


class ControlChannel:
    """The files in ``folder``; what is not there, or not to be read, is None."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def order(self) -> Order | None:
        """Return the newest order."""
        return self._read("order", Order)

    def give(self, order: Order) -> None:
        """Give an order in place of the one before."""
        self._write("order", order)

    def report(self) -> Report | None:
        """Return the newest report."""
        report = self._read("report", Report)
        return None if report is None else _listed(report)

    def tell(self, report: Report) -> None:
        """Report, in place of the report before."""
        self._write("report", report)

    def request(self, by: str) -> RestartRequest | None:
        """Return what the loop or a person wishes."""
        return self._read(f"wish-{by}", RestartRequest)

    def leave(self, by: str, request: RestartRequest) -> None:
        """Leave a wish in place of the one before."""
        self._write(f"wish-{by}", request)

    def withdraw(self, by: str) -> None:
        """Take a wish back; nothing where there is none."""
        (self.folder / f"wish-{by}.json").unlink(missing_ok=True)

    def _read(self, name: str, kind: type[T]) -> T | None:
        try:
            values: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text("utf-8"))
            return kind(**values)
        except (OSError, ValueError, TypeError):
            return None

    def _write(self, name: str, value: Order | Report | RestartRequest) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / f"{name}.json", json.dumps(asdict(value)))


def _listed(report: Report) -> Report:
    """Return a report whose JSON list is a tuple again."""
    return Report(**{**asdict(report), "checkpoints": tuple(report.checkpoints)})
