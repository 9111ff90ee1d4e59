"""Replay of large recordings as a PySpark job, one group per application."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.errors import BadInput
from rheostat.replay.recording import Recording, by_application, kind_of, moments_of, names_of
from rheostat.replay.replayer import Request, as_line, replay
from rheostat.replay.tables import Table, is_index

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "application string, t_s double, target int, reason string, line string"
"""``line`` is the line that ``rheostat replay --json`` prints."""


def read_frame(spark: SparkSession, path: Path) -> DataFrame:
    """Return a recording as a table: Parquet, or CSV with text cells; a journal is BadInput."""
    kind = kind_of(path)
    if kind == "journal":
        raise BadInput(f"{path} is a journal, one application's; replay it without Spark")
    # Cells as text, quotes doubled, as everywhere but in Spark's default.
    frame = (
        spark.read.parquet(str(path))
        if kind == "parquet"
        else spark.read.options(header=True, escape='"').csv(str(path))
    )
    return frame.drop(*filter(is_index, frame.columns))


def replay_job(frame: DataFrame, request: Request, name: str = "the recording") -> DataFrame:
    """Return the decisions on every application of a table of ``Observation`` columns (``SCHEMA``).

    Groups are sorted by time; a refused row fails the lazy job (``refusal`` finds the message).
    Raises BadInput for a table without ``application`` and for a wrong policy.
    """
    # Made once here, so that a wrong policy is told before a job starts.
    request.make()
    if "application" not in frame.columns:
        raise BadInput(
            f"{name} has no column application; a replay as a Spark job has one group for each"
        )
    # The header, too: tasks would tell it once each, in a stack trace.
    names_of(frame.columns, name)

    def decide(key: tuple[Any, ...], group: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        recording = _recording(
            list(group.columns), group.to_dict("records"), f"{name}, application {key[0]}"
        )
        rows = [
            (d.application, d.t_s, d.decision.target, d.decision.reason, as_line(d, several=True))
            for d in replay(recording, request)
        ]
        return pd.DataFrame(rows, columns=[column.split(" ")[0] for column in SCHEMA.split(", ")])

    return frame.groupBy("application").applyInPandas(decide, SCHEMA)


def lines(decisions: DataFrame) -> Iterator[str]:
    """Yield the decision lines by application and time; raises BadInput for a refused row."""
    once = decisions.persist()  # sorting looks at its input twice
    try:
        yield from (row.line for row in once.orderBy("application", "t_s").toLocalIterator())
    except Exception as failed:
        if refused := refusal(failed):
            raise BadInput(refused) from None
        raise
    finally:
        once.unpersist()


def refusal(failed: Exception) -> str | None:
    """Return what BadInput said in a Spark task that failed; None where it failed otherwise."""
    # Only the text of an exception crosses from the worker to the driver.
    mark = f"{BadInput.__module__}.{BadInput.__name__}: "
    messages = [line.partition(mark)[2] for line in str(failed).splitlines() if mark in line]
    return messages[-1].strip() if messages else None


def _recording(columns: list[str], rows: Iterable[Mapping[Any, Any]], name: str) -> Recording:
    placed = ((f"{name}, t_s {cells.get('t_s', cells.get('timestamp'))}", cells) for cells in rows)
    moments = sorted(
        moments_of(Table(columns, placed), name), key=lambda moment: moment.observation.t_s
    )
    return by_application(moments)
