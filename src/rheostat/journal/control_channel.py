"""The control channel between a supervisor and the job that it restarts: small files in one folder,
each replaced atomically.

The supervisor writes orders, the job writes reports, and the job's loop or a person writes restart
requests.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from rheostat.machine.atomic_file import write_atomic

FOLDER = "restart"
"""The folder of the control channel in a journal."""

VARIABLE = "RHEOSTAT_RESTARTS"
"""The environment variable that a supervised job gets: the folder of its control channel."""

LOOP, PERSON = "loop", "person"
"""The two sources of a restart request."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The order to process number ``run``: run with ``executors``. ``drain``: stop the queries
    after their batches. ``once``: run one batch of every query and end.
    """

    run: int
    executors: int
    drain: bool = False
    once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The report of process number ``run``; times in seconds since 1970.

    ``works_s`` is the end of the first batch, or of a trigger without rows; ``drained_s`` is when
    all queries had stopped. ``checkpoints`` are those of stateful queries; ``sinks`` maps a
    checkpoint to the folder into which its query writes files.
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
    """A request for another size, with its reason; None keeps the executors or the state
    partitions. ``run`` is the process whose loop makes the request, None for a person.
    """

    t_s: float
    reason: str
    executors: int | None = None
    partitions: int | None = None
    run: int | None = None


class ControlChannel:
    """The files in ``folder``; a missing or unreadable file reads as None."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def order(self) -> Order | None:
        """Return the newest order."""
        return self._read("order", Order)

    def write_order(self, order: Order) -> None:
        """Replace the order."""
        self._write("order", order)

    def report(self) -> Report | None:
        """Return the newest report."""
        report = self._read("report", Report)
        if report is None:
            return None
        return replace(report, checkpoints=tuple(report.checkpoints))  # JSON has lists only

    def write_report(self, report: Report) -> None:
        """Replace the report."""
        self._write("report", report)

    def request(self, by: str) -> RestartRequest | None:
        """Return the request of the loop or of a person."""
        return self._read(f"request-{by}", RestartRequest)

    def write_request(self, by: str, request: RestartRequest) -> None:
        """Replace the request of the loop or of a person."""
        self._write(f"request-{by}", request)

    def remove_request(self, by: str) -> None:
        """Remove the request, if there is one."""
        (self.folder / f"request-{by}.json").unlink(missing_ok=True)

    def _read(self, name: str, kind: type[T]) -> T | None:
        try:
            values: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text("utf-8"))
            return kind(**values)
        except (OSError, ValueError, TypeError):
            return None

    def _write(self, name: str, value: Order | Report | RestartRequest) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomic(self.folder / f"{name}.json", json.dumps(asdict(value)))
