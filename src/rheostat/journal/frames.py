"""A journal as pandas data frames and as a figure, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.errors import BadInput
from rheostat.journal.events import EventStream, reason_class
from rheostat.journal.reading import records
from rheostat.journal.starts import read_events, starts_of
from rheostat.machine.missing_module import advice
from rheostat.model import Observation, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_SCALARS = tuple(
    field.name
    for field in fields(Observation)
    if str(field.type).startswith(("int", "float", "str", "bool")) and field.name != "t_s"
)


def read_journal(path: str | Path) -> RecordedJournal:
    """Return the journal of a running or finished job.

    ``path`` is the journal's folder or one file of JSON lines. Raises BadInput if there is no
    journal.
    """
    journal = RecordedJournal(Path(path))
    next(journal.records(), None)
    return journal


@dataclass(frozen=True, slots=True)
class RecordedJournal:
    """A journal that can be read while it is written; each call reads it again."""

    path: Path

    def records(self) -> Iterator[Record]:
        """Yield the records in order."""
        return (record for _, record in records(self.path))

    def history(self) -> DataFrame:
        """Return one row per tick, indexed by time (UTC): the signals of the observation by name,
        ``wanted_executors`` (by the policy), ``target_executors`` (after the guards),
        ``reason_class`` and ``phase``.

        Raises BadInput if pandas is not installed.
        """
        return _frame([_row(record) for record in self.records()])

    def decisions(self) -> DataFrame:
        """Return one row per event, indexed by time (UTC), with the keys of the decision log:
        changes of the target, halts, failures, and why the size is kept when the reason changes.

        Raises BadInput if pandas is not installed.
        """
        events = EventStream()
        rows = ((record.t_s, events.next(record)) for record in self.records())
        return _frame([{**event, "time": t_s} for t_s, event in rows if event])

    def plot(self) -> Figure:
        """Return a figure of load, executors, latency and backlog on one time axis.

        Raises BadInput if pandas or matplotlib is not installed.
        """
        history = self.history()
        try:
            from matplotlib import pyplot as plt
        except ModuleNotFoundError as missing:
            raise BadInput(advice(missing.name or "matplotlib")) from None
        starts = starts_of(read_events(self.path)) if self.path.is_dir() else []
        figure: Figure
        figure, panels = plt.subplots(4, 1, sharex=True, figsize=(10, 8), layout="constrained")
        for axes, (title, columns) in zip(panels, _PANELS.items(), strict=True):
            for name, label in columns.items():
                axes.step(history.index, history[name], where="post", label=label)
            axes.set_ylabel(title)
            axes.legend(loc="upper left", fontsize="small")
        if starts:
            panels[2].axhline(starts[-1].slo_s, color="red", linestyle="--", linewidth=1)
        plt.close(figure)  # so that a notebook shows it only once, as the value of its cell
        return figure


_PANELS: Mapping[str, Mapping[str, str]] = {
    "rows/s": {"input_rows_per_s": "arriving", "processed_rows_per_s": "processed"},
    "executors": {
        "executors": "registered",
        "target_executors": "target",
        "wanted_executors": "wanted by the policy",
    },
    "latency (s)": {"latency_s": "mean of the last batch", "lag_s": "oldest uncommitted row"},
    "backlog (rows)": {"lag_rows": "rows"},
}


def _row(record: Record) -> dict[str, Any]:
    observed = record.observation
    return {
        "time": record.t_s,
        **{name: getattr(observed, name, None) for name in _SCALARS},
        "wanted_executors": record.raw.target if record.raw else None,
        "target_executors": record.target,
        "reason_class": reason_class(record),
        "phase": record.rescaling.phase,
    }


def _frame(rows: list[dict[str, Any]]) -> DataFrame:
    try:
        import pandas as pd
    except ModuleNotFoundError as missing:
        raise BadInput(advice(missing.name or "pandas")) from None
    times = pd.to_datetime([row.pop("time") for row in rows], utc=True, unit="s")
    return pd.DataFrame(rows, index=pd.Index(times, name="time"))
