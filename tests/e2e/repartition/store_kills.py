"""Cuts a repartition of the toy query off its object store at many requests, and recovers it.

A process of its own, because a JVM learns its class path at its start. After the request at which
the store was told to die, every request is refused, so nothing that comes later happens. Prints a
line for each point; ends with an error where a checkpoint was lost.
"""

from __future__ import annotations

import os
import shutil
import sys
import urllib.request
from contextlib import suppress
from pathlib import Path

from tests.unit.repartition.toy_query import ROWS, ToyEngine, ToyQuery, copy_checkpoint, expected

from rheostat.errors import BadInput, RheostatError
from rheostat.repartition.spark_repartition import repartition, undo
from rheostat.spark.internals.hadoop_file_system import HadoopFileSystem, own_files

OLD, NEW = 4, 7
RECOVERIES = {"forth": ("forth", "back"), "back": ("back",)}
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def control(server: str, command: str) -> int:
    """Send a command to the store; return the changes that it has made since the last one."""
    with _DIRECT.open(f"{server}/_faults/{command}", timeout=60) as answer:
        return int(answer.read())


def work(way: str, name: str, files: HadoopFileSystem) -> None:
    if way == "forth":
        repartition(name, NEW, lambda _: ToyEngine(), files=files, check_stopped=lambda *_: None)
    else:
        undo(name, files=files, check_stopped=lambda *_: None)


def stored(folder: Path, name: str, files: HadoopFileSystem) -> str:
    """Bring a checkpoint to the store."""
    files.delete(name)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "sink" not in path.parts:
            files.write(f"{name}/{path.relative_to(folder)}", path.read_text())
    return name


def assert_continues(ready: Path, name: str, files: HadoopFileSystem, partitions: int) -> None:
    """Fetch a checkpoint, run its query to its end, and compare all output."""
    here = ready.with_name("fetched")
    shutil.rmtree(here, ignore_errors=True)
    copy_checkpoint(ready / "sink", here / "sink")
    for part in ("offsets", "commits", "state"):
        files.download(f"{name}/{part}", here / part)
    query = ToyQuery(here)
    query.run()
    assert query.output == expected(ROWS)
    assert query.partitions == partitions, (query.partitions, partitions)


def main(bucket: str, server: str, folder: Path, points: int, *ways: str) -> None:
    ready = folder / "ready"
    ToyQuery(ready, OLD).run(4)
    files, name = own_files(), f"{bucket}/orders"
    for way in ways or RECOVERIES:
        recoveries = RECOVERIES[way]
        stored(ready, name, files)
        if way == "back":
            work("forth", name, files)
        control(server, "count")
        work(way, name, files)
        changes = control(server, "count")
        for point in range(0, changes, max(1, 2 * changes // points)):
            stored(ready, name, files)
            if way == "back":
                work("forth", name, files)
            control(server, f"die-after-{point}")
            with suppress(RheostatError, OSError):
                work(way, name, own_files())
            control(server, "live")
            files.delete(f"{name}/_rheostat/lease.json")  # its holder is this process, which lives
            recovery = recoveries[point % len(recoveries)]
            with suppress(BadInput):  # before the beginning or after the end
                work(recovery, name, own_files())
            begun = files.read_text(f"{name}/_rheostat/journal.jsonl") is not None
            assert_continues(ready, name, files, NEW if begun and recovery == "forth" else OLD)
            sys.stdout.write(f"{way} cut off after {point} of {changes}, then {recovery}\n")
            sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
