"""Writes a journal and repartitions a checkpoint on an object store while the store is faulty.

A tenth of the requests is answered with 503 SlowDown, another tenth is carried out and its
response is lost; only the retries of its client help. Prints the number of journal lines.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from tests.e2e.repartition.store_kills import NEW, OLD, assert_continues, control, stored, work
from tests.unit.journal.test_totals import record
from tests.unit.repartition.toy_query import ToyQuery

from rheostat.journal.claim import Claim
from rheostat.journal.record import read_line
from rheostat.journal.remote_journal import RemoteJournal
from rheostat.spark.internals.hadoop_file_system import HadoopFileSystem, own_files
from rheostat.spark.journaling.kill_switches import HALT_FILE, KillSwitches
from rheostat.storage.file_system import StorageError

LINES = 20


def journal_lines(files: HadoopFileSystem, uri: str, near: Path) -> list[float]:
    """Write a journal line by line, and return the times of the lines that have arrived."""
    journal = RemoteJournal(near, files, uri, far_claim=Claim(files, uri))
    for number in range(LINES):
        journal.append(record(float(number), 2), {})
        with suppress(StorageError):  # the next call brings what is left
            journal.carry()
    while True:
        with suppress(StorageError):
            journal.carry()
            break
    journal.end()
    segments = sorted(name for name in files.names(uri) if name.startswith("segment"))
    texts = [files.read_text(f"{uri}/{name}") or "" for name in segments]
    records = [read_line(line) for text in texts for line in text.splitlines()]
    return [line.t_s for line in records if line is not None]


def halted(files: HadoopFileSystem, checkpoint: str) -> bool:
    """Pull the kill switch in a checkpoint and return whether it is noticed."""
    switches = KillSwitches(lambda: [checkpoint], files)
    files.write(f"{checkpoint}/{HALT_FILE}", "")
    switches.poll()
    pulled = bool(switches.pulled())
    files.delete(f"{checkpoint}/{HALT_FILE}")
    return pulled


def main(bucket: str, server: str, folder: Path) -> None:
    files, name = own_files(), f"{bucket}/orders"
    control(server, "faults-0.1")
    lines = journal_lines(files, f"{bucket}/journal", folder / "near")
    assert lines == [float(number) for number in range(LINES)], lines
    ready = folder / "ready"
    ToyQuery(ready, OLD).run(4)
    stored(ready, name, files)
    assert halted(files, name)
    work("forth", name, files)
    assert_continues(ready, name, files, NEW)
    work("back", name, files)
    assert_continues(ready, name, files, OLD)
    sys.stdout.write(f"{len(lines)}\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
