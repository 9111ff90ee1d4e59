"""The plot of the rows of the old partitions that every task reads, in the three ways: Figure 3 of
"A Deep Dive into Rescalable State in Apache Flink", with the keys of a real state.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rheostat.spark.sensing.query_shape import PROVIDER, ROCKSDB, SHUFFLE_PARTITIONS
from rheostat_lab.repartition.sized_state import run

_USED, _THROWN_AWAY = "#2f6f9f", "#d9dee3"


def homes(spark: Any, folder: Path, keys: int, old: int, new: int) -> list[tuple[int, int]]:
    """Return the old and the new partition of every row of a state with ``keys`` keys, in the order
    of the old partitions' files.
    """
    spark.conf.set(PROVIDER, ROCKSDB)
    spark.conf.set(SHUFFLE_PARTITIONS, str(old))
    spark.range(keys).selectExpr("id as key", "cast(id as string) as value").write.parquet(
        str(folder / "rows")
    )
    run(spark, folder, folder / "checkpoint")
    rows = spark.read.format("statestore").load(str(folder / "checkpoint"))
    pairs = rows.selectExpr("partition_id", f"pmod(hash(key.key), {new}) as home").collect()
    # Rows of a partition are in the order of its files, but partitions may be in any order.
    return sorted(((row[0], row[1]) for row in pairs), key=lambda row: row[0])


def draw(rows: Sequence[tuple[int, int]], old: int, new: int, path: Path) -> None:
    """Write the plot as PNG."""
    figure = Figure(figsize=(10, 4.2), dpi=120)
    panels = figure.subplots(3, 1, sharex=True)
    everything = range(len(rows))
    for task in range(new):
        mine = [place for place in everything if rows[place][1] == task]
        _dots(panels[0], everything, task, _THROWN_AWAY)
        _dots(panels[0], mine, task, _USED)
        _dots(panels[1], mine, task, _USED)
    for part in range(old):
        _dots(panels[2], [place for place in everything if rows[place][0] == part], part, _USED)
    titles = (
        f"all, filtered: {new * len(rows)} rows read for {len(rows)}",
        f"an index of keys: {len(rows)} rows read, each after a seek",
        f"each old partition once: {len(rows)} rows read, {old} seeks",
    )
    for panel, title, tasks in zip(panels, titles, (new, new, old), strict=True):
        panel.set_title(title, fontsize=9, loc="left")
        panel.set_yticks(range(tasks))
        panel.set_yticklabels([f"task {task}" for task in range(tasks)], fontsize=7)
        panel.set_ylim(tasks - 0.4, -0.6)
        for edge in range(1, old):
            first = next(place for place in everything if rows[place][0] == edge)
            panel.axvline(first - 0.5, color="#7b8794", linewidth=0.8)
    panels[2].set_xlabel(f"rows in the order of the files of {old} old partitions, to {new} new")
    figure.tight_layout()
    FigureCanvasAgg(figure).print_png(path)


def _dots(panel: Any, places: Sequence[int], task: int, colour: str) -> None:
    panel.scatter([*places], [task] * len(places), s=9, marker="s", color=colour, linewidths=0)
