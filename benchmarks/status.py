"""Measures the time of ``rheostat status`` with a journal of 30 days at a decision every 5 s, in a
new process, as an operator runs it.

Run: python benchmarks/status.py [--days 30] [--runs 20]. Writing the journal takes a few minutes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rheostat.control.journal_series import SeriesWriter
from rheostat.journal.record import to_line
from rheostat.journal.starts import Start, append_event
from rheostat.journal.summary import SummaryWriter
from rheostat.model import Decision, Observation, Record, Rescaling

INTERVAL_S = 5.0
DAY_S = 86_400.0
PER_SEGMENT = 10_000


def record(t_s: float, executors: int, target: int) -> Record:
    """Return a tick as the default policy writes it."""
    evidence = {f"number_{n}": 1234.5678 + n for n in range(12)}
    reason = "keeping the size: no late rows expected; scaling in would not save enough"
    return Record(
        t_s=t_s,
        observation=Observation(
            t_s=t_s,
            application="app-20261127-0001",
            query="orders",
            executors=executors,
            slots_per_executor=2,
            target=executors,
            input_rows_per_s=1496.2,
            processed_rows_per_s=1713.4,
            lag_rows=3010.0,
            latency_s=2.3,
            batch_s=1.9,
            batch_parts_s={"addBatch": 1.5, "walCommit": 0.1, "commitOffsets": 0.1},
            batch_rows=7481,
        ),
        queries=(),
        raw=Decision(target=target, reason=reason, evidence=evidence),
        guards=(),
        target=target,
        actions=(),
        rescaling=Rescaling(phase="steady"),
    )


def write(folder: Path, days: float) -> int:
    """Write a journal that ends now, with a change of size every hour; return its records.

    The files are those of ``FolderJournal``, without its memory file at each tick.
    """
    folder.mkdir()
    ticks = int(days * DAY_S / INTERVAL_S)
    first_s = time.time() - ticks * INTERVAL_S
    append_event(folder, start(first_s))
    summary = SummaryWriter(folder)
    summary.begin()
    series = SeriesWriter(lambda: folder)
    size = 4
    for number, first in enumerate(range(0, ticks, PER_SEGMENT)):
        path, offset = folder / f"segment-{number:05d}.jsonl", 0
        with path.open("w") as file:
            for tick in range(first, min(ticks, first + PER_SEGMENT)):
                target = 4 + tick // 720 % 2
                tick_record = record(first_s + (tick + 1) * INTERVAL_S, size, target)
                offset += file.write(to_line(tick_record) + "\n")
                # The file is then as old as it can be while a job runs.
                summary.add(tick_record, path.name, offset)
                series.add(tick_record)
                size = target
    return ticks


def start(t_s: float) -> Start:
    """Return the start of the job."""
    return Start(
        t_s=t_s,
        mode="live",
        policy="predictive",
        slo_s=10.0,
        min_executors=1,
        max_executors=8,
        interval_s=INTERVAL_S,
        price=0.05,
    )


def took_s(arguments: list[str]) -> tuple[float, float]:
    """Return the seconds and the CPU seconds of a command; raises SystemExit if it fails for
    another reason than an unhealthy job.
    """
    before, begun = os.times(), time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "rheostat", *arguments], capture_output=True, check=False
    )
    passed_s, after = time.monotonic() - begun, os.times()
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    cpu_s = sum(after[2:4]) - sum(before[2:4])
    return passed_s, cpu_s


def main() -> None:
    """Write the journal, measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--days", type=float, default=30.0)
    options.add_argument("--runs", type=int, default=20)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        # An unmeasured first run compiles the byte code, as an installation does.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = f"{name}/bytecode"
        folder = Path(name) / "journal"
        ticks = write(folder, given.days)
        mib = sum(path.stat().st_size for path in folder.iterdir()) / 2**20
        show(f"{ticks:,} records, {mib:,.0f} MiB")
        for command in ("status", "savings"):
            took_s([command, str(folder)])
            times = [took_s([command, str(folder)]) for _ in range(given.runs)]
            passed_s, cpu_s = map(statistics.median, zip(*times, strict=True))
            longest_s = max(passed for passed, _ in times)
            show(
                f"{command}: median {passed_s:.2f} s, longest {longest_s:.2f} s,"
                f" CPU {cpu_s:.2f} s (n = {given.runs})"
            )


def show(line: str) -> None:
    """Print a line and flush it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
