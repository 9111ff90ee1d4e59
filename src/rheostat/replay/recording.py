"""Reads a recording as moments: CSV or Parquet with the columns of ``Observation`` or of the
thesis, a journal, or a Spark event log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias

from rheostat.errors import BadInput
from rheostat.journal.reading import records
from rheostat.journal.retention import segments
from rheostat.replay.event_logs.application_log import read_log
from rheostat.replay.event_logs.log_files import COMPRESSED, ROLLED, find_logs, lines
from rheostat.replay.event_logs.log_recording import moments
from rheostat.replay.tables import (
    Table,
    amend,
    is_thesis,
    observation_of,
    read_csv,
    read_parquet,
    translate,
)
from rheostat.replay.validate import Moment, check, check_columns, check_numbers, check_times
from rheostat.signals.application import combine

Recording: TypeAlias = Mapping[str | None, Sequence[Moment]]
"""The moments of each application in time order; None if the recording names no application."""


def packaged() -> dict[str, Path]:
    """Return the packaged recordings by name."""
    folder = Path(str(files("rheostat.replay") / "telemetry"))
    return {path.stem: path for path in sorted(folder.glob("*.csv"))}


def find(name: str) -> Path:
    """Return the path of a file, a folder or a packaged recording; raises BadInput if unknown."""
    path = Path(name)
    if name and path.exists():
        return path
    known = packaged()
    if name.removesuffix(".csv") not in known:
        raise BadInput(
            f"there is no recording {name or repr(name)}; it is a file, a journal's folder, or one"
            f" of {', '.join(known)}"
        )
    return known[name.removesuffix(".csv")]


def read(path: Path) -> Recording:
    """Return a recording's observations by application; the format follows from the content.

    Missing columns and empty cells are absent signals. Raises BadInput for invalid values
    (``validate``) and for a recording without rows.
    """
    kind = kind_of(path)
    if path.is_dir() and kind == "journal" and not segments(path):
        raise BadInput(
            f"there is no journal in {path} (no file segment-NNNNN.jsonl), and no Parquet either"
        )
    own = {"journal": _of_journal, "event log": _of_event_log}.get(kind)
    table = read_parquet if kind == "parquet" else read_csv
    read = list(own(path) if own else moments_of(table(path), path.name))
    if not read:
        raise BadInput(f"{path} holds no observations; a recording needs at least one row")
    return by_application(read)


def kind_of(path: Path) -> str:
    """Return ``csv``, ``parquet``, ``journal`` or ``event log``, by the content of ``path``."""
    if path.name.startswith(ROLLED) or path.suffix in COMPRESSED:
        return "event log"
    if path.is_dir():
        # Treat an empty folder as a journal, for which the error message is better.
        return "journal" if segments(path) or not any(path.rglob("*.parquet")) else "parquet"
    try:
        with path.open("rb") as file:
            start = file.read(64).lstrip()
    except OSError as error:
        raise BadInput(f"the recording {path} cannot be read: {error.strerror}") from None
    # The content decides, because file names are unreliable.
    if start.startswith(b'{"Event":'):
        return "event log"
    if start.startswith(b"PAR1"):
        return "parquet"
    return "journal" if start.startswith(b"{") else "csv"


def moments_of(table: Table, recording: str) -> Iterator[Moment]:
    """Yield the validated observations of a table; ``recording`` is the recording's name."""
    of_thesis, names = is_thesis(table.columns), names_of(table.columns, recording)
    for where, cells in table.rows:
        fields: dict[str, Any] = {name: cells[column] for name, column in names.items()}
        moment = Moment(where, observation_of(amend(fields) if of_thesis else fields, names, where))
        check(moment, names)
        yield moment


def names_of(columns: Sequence[str], recording: str) -> dict[str, str]:
    """Return the column of each field of ``Observation``; raises BadInput for an invalid header."""
    of_thesis = is_thesis(columns)
    names = translate(columns, recording) if of_thesis else dict(zip(columns, columns, strict=True))
    check_columns(columns, recording, names)
    return names


def by_application(moments: Iterable[Moment]) -> Recording:
    """Return each application's moments, queries combined; raises BadInput for falling times."""
    moments_by_application: dict[str | None, list[Moment]] = {}
    for moment in moments:
        moments_by_application.setdefault(moment.observation.application, []).append(moment)
    for own in moments_by_application.values():
        # Check each application separately: they may overlap or lie years apart.
        check_times(own)
    return {
        application: [
            _together(list(tick)) for _, tick in groupby(own, lambda moment: moment.observation.t_s)
        ]
        for application, own in moments_by_application.items()
    }


def _together(tick: Sequence[Moment]) -> Moment:
    combined = combine([moment.observation for moment in tick])
    return tick[0] if combined is None or len(tick) == 1 else Moment(tick[0].where, combined)


def _of_event_log(path: Path) -> Iterator[Moment]:
    (log,) = find_logs(str(path))
    read = read_log(log.application, lines(log, str(path)))
    for query in read.queries.values():
        yield from moments(read, query)


def _of_journal(path: Path) -> Iterator[Moment]:
    for where, record in records(path):
        if record.observation is not None:
            moment = Moment(where, record.observation)
            # Check only numbers: our own journal cannot have wrong columns or units.
            check_numbers(moment, {})
            yield moment
