"""Measures how fast ``rheostat advise`` reads event logs, and how much memory it uses.

A real event log is multiplied and re-dated: the part from its first batch on is repeated with later
times and batch, stage and task numbers, offsets that continue, and the initial executors. Then the
command analyses all logs; the output is the throughput, the memory of the largest process and the
run time of the analysis's own tasks.

    export PYSPARK_SUBMIT_ARGS="--conf spark.eventLog.enabled=true \\
        --conf spark.eventLog.dir=file:///tmp/e pyspark-shell"
    rheostat demo
    python benchmarks/event_logs.py /tmp/e --gigabytes 10 --logs 20
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from rheostat.replay.event_logs.log_files import find_logs, lines

_NUMBERS = re.compile(
    r'"(?:(?P<time>Timestamp|[A-Z][a-z]+ Time)":(?=\d{13})|(?P<batch>streaming\.sql\.batchId)":"'
    r'|(?P<stage>Stage ID)":|(?P<stages>Stage IDs)":\[|(?P<task>Task ID)":)(?P<number>\d+(?:,\d+)*)'
)
_KINDS = ("time", "batch", "stage", "stages", "task")
_PROGRESS = "QueryProgressEvent"
_MEGABYTE = 1e6


Line = str | list[str | tuple[str, int]]
"""An unchanged progress event, or the parts of another line: texts, and numbers with their kind."""


@dataclass(frozen=True)
class Step:
    """The increment of each kind of number per repetition, and the rows added to each offset."""

    time: int
    batch: int
    stage: int
    task: int
    offsets: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Sample:
    """A real log: the part before its first batch, and the part that is repeated."""

    head: Sequence[str]
    body: Sequence[Line]
    step: Step
    rejoined: Sequence[Line]
    """Removals of executors that exist at the end but not at the beginning."""


def sample_of(place: str) -> Sample:
    """Return the log of a demo; its last query is repeated."""
    (log,) = find_logs(place)
    read = list(lines(log, place))
    events = [json.loads(line)["progress"] for line in read if _PROGRESS in line[:100]]
    own = [event for event in events if event["id"] == events[-1]["id"]]
    first = next(
        i for i, line in enumerate(read) if _PROGRESS in line[:100] and own[0]["id"] in line
    )
    begin, end = (
        datetime.fromisoformat(one["timestamp"].replace("Z", "+00:00")) for one in (own[0], own[-1])
    )
    duration_ms = round((end - begin).total_seconds() * 1000) + 2 * own[-1]["batchDuration"]
    parts = [_parts(line) for line in read]
    used: dict[str, int] = {}
    for kind, number in (part for line in parts for part in line if isinstance(part, tuple)):
        used[kind] = max(used.get(kind, 0), number)
    stages = max(used["stage"], used["stages"]) + 1
    batches = own[-1]["batchId"] - own[0]["batchId"] + 1
    step = Step(duration_ms, batches, stages, used["task"] + 1, _advance(own))
    body = [
        line
        for line, text in zip(parts[first:], read[first:], strict=True)
        if "ApplicationEnd" not in text[:60]
    ]
    removals = _rejoined(read, first, used["time"])
    return Sample(read[:first], body, step, [_parts(line) for line in removals])


def _offsets(event: Mapping[str, Any], name: str) -> Any:
    value = event["sources"][0][name]
    return json.loads(value) if isinstance(value, str) else value


def _advance(own: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    first, last = _offsets(own[0], "startOffset"), _offsets(own[-1], "endOffset")
    begin = first or {topic: {} for topic in last}
    return {
        topic: {p: rows - begin[topic].get(p, 0) for p, rows in parts.items()}
        for topic, parts in last.items()
    }


def _rejoined(read: Sequence[str], first: int, last_ms: int) -> Iterator[str]:
    """Yield the removals that lead from the final executors back to the initial ones."""
    present: dict[str, set[str]] = {"begin": set(), "end": set()}
    for index, line in enumerate(read):
        for event, change in (("ExecutorAdded", set.add), ("ExecutorRemoved", set.discard)):
            if f'SparkListener{event}"' in line[:60]:
                executor = json.loads(line)["Executor ID"]
                for name in ("begin", "end") if index < first else ("end",):
                    change(present[name], executor)
    for executor in sorted(present["end"] - present["begin"]):
        left = {"Event": "SparkListenerExecutorRemoved", "Timestamp": last_ms}
        yield json.dumps({**left, "Executor ID": executor}, separators=(",", ":")) + "\n"


def _parts(line: str) -> Line:
    """Return a line split at its numbers, so that a repetition only joins the parts."""
    if _PROGRESS in line[:100]:
        return line
    parts: list[str | tuple[str, int]] = []
    at = 0
    for match in _NUMBERS.finditer(line):
        kind = next(kind for kind in _KINDS if match[kind])
        parts.append(line[at : match.start("number")])
        for place, number in enumerate(match["number"].split(",")):
            parts += [",", (kind, int(number))] if place else [(kind, int(number))]
        at = match.end("number")
    return [*parts, line[at:]]


def _later(line: Line, step: Step, times: int) -> str:
    """Return a line after a number of repetitions."""
    if isinstance(line, str):
        event = json.loads(line)
        _move(event["progress"], step, times)
        return json.dumps(event, separators=(",", ":")) + "\n"
    added = {
        "time": times * step.time,
        "batch": times * step.batch,
        "stage": times * step.stage,
        "stages": times * step.stage,
        "task": times * step.task,
    }
    return "".join(
        part if isinstance(part, str) else str(part[1] + added[part[0]]) for part in line
    )


def _move(event: dict[str, Any], step: Step, times: int) -> None:
    began = datetime.fromisoformat(event["timestamp"].replace("Z", "+00:00"))
    moved = began + timedelta(milliseconds=times * step.time)
    event["timestamp"] = moved.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    event["batchId"] += times * step.batch
    for name in ("startOffset", "endOffset", "latestOffset"):
        if offsets := _offsets(event, name):
            event["sources"][0][name] = json.dumps(
                {
                    topic: {p: rows + times * step.offsets[topic][p] for p, rows in parts.items()}
                    for topic, parts in offsets.items()
                }
            )


def write_log(sample: Sample, file: Path, size_bytes: float) -> int:
    """Write a log of at least this size; return its bytes."""
    with file.open("w", encoding="utf-8") as out:
        out.writelines(
            line.replace("app-", f"{file.name}-", 1) if "ApplicationStart" in line[:60] else line
            for line in sample.head
        )
        for times in count():
            out.writelines(
                _later(line, sample.step, times) for line in (*sample.body, *sample.rejoined)
            )
            if out.tell() >= size_bytes:
                return out.tell()
    raise AssertionError


def _peaks(pid: int) -> dict[int, tuple[str, int]]:
    """Return the name and the peak resident bytes of a process and its descendants."""
    parents, names, peaks = {}, {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            values = dict(
                line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line
            )
        except OSError:
            continue
        own = int(status.parent.name)
        parents[own], names[own] = int(values["PPid"]), values["Name"]
        peaks[own] = int(values.get("VmHWM", "0 kB").split()[0]) * 1024
    family = {pid}
    while grown := {own for own, parent in parents.items() if parent in family} - family:
        family |= grown
    return {own: (names[own], peaks[own]) for own in family if own in names}


def _cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process; not all children are waited for by their parents."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _analyse(folder: Path, out: Path, more: Sequence[str]) -> dict[str, Any]:
    """Run the command on a folder of logs and return its time and memory."""
    with tempfile.TemporaryDirectory() as events:
        confs = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": Path(events).as_uri(),
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.compress": "false",
        }
        arguments = " ".join(f"--conf {name}={value}" for name, value in confs.items())
        environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell"}
        command = [
            sys.executable,
            "-m",
            "rheostat",
            "advise",
            str(folder),
            "--out",
            str(out),
            *more,
        ]
        begin_s, cpu_s, peaks = time.monotonic(), dict[int, float](), dict[int, tuple[str, int]]()
        process = subprocess.Popen(command, env=environment)
        while process.poll() is None:
            for own, (name, peak) in _peaks(process.pid).items():
                peaks[own] = (name, max(peak, peaks.get(own, ("", 0))[1]))
                cpu_s[own] = max(_cpu_s(own), cpu_s.get(own, 0.0))
            time.sleep(0.5)
        took_s = time.monotonic() - begin_s
        tasks_s = [
            json.loads(line)["Task Metrics"]["Executor Run Time"] / 1000
            for file in Path(events).iterdir()
            for line in file.open()
            if '"SparkListenerTaskEnd"' in line[:60]
        ]
    if process.returncode:
        raise SystemExit(process.returncode)
    largest = {name: 0 for name, _ in peaks.values()}
    for name, peak in peaks.values():
        largest[name] = max(largest[name], peak)
    return {
        "seconds": round(took_s, 1),
        "cpu_seconds": round(sum(cpu_s.values()), 1),
        "peak_megabytes": {name: round(peak / _MEGABYTE) for name, peak in largest.items()},
        "task_seconds_median": round(statistics.median(tasks_s), 1),
        "task_seconds_max": round(max(tasks_s), 1),
    }


def main() -> None:
    """Generate the logs, analyse them, print one JSON line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("sample", help="a real event log, or its folder")
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--logs", type=int, default=20)
    parser.add_argument(
        "--distinct", type=int, help="number of distinct logs; the others are links"
    )
    parser.add_argument("--folder", type=Path, help="keep the logs here; default: a scratch folder")
    parser.add_argument("--no-analyse", dest="analyse", action="store_false", help="write only")
    given, more = parser.parse_known_args()  # The remaining arguments are passed to the command.
    folder = given.folder or Path(tempfile.mkdtemp(prefix="rheostat-event-logs-"))
    folder.mkdir(exist_ok=True)
    if shutil.disk_usage(folder).free < 1.5e9 * given.gigabytes:
        parser.error(f"{folder} has not enough free space for {given.gigabytes:g} GB")
    try:
        if not any(folder.iterdir()):
            sample, size = sample_of(given.sample), given.gigabytes * 1e9 / given.logs
            files = [folder / f"app-{number:05d}" for number in range(given.logs)]
            distinct = min(given.logs, given.distinct or given.logs)
            with ProcessPoolExecutor(2) as pool:
                list(pool.map(write_log, [sample] * distinct, files[:distinct], [size] * distinct))
            for number in range(distinct, given.logs):
                files[number].hardlink_to(files[number % distinct])
        written = sum(file.stat().st_size for file in folder.iterdir())
        if not given.analyse:
            return
        out = folder.parent / f"{folder.name}.json"
        answer = _analyse(folder, out, more)
        rows = json.loads(out.read_text())["queries"]
        judged = sum(row["advice"] is not None for row in rows)
        rate = round(written / _MEGABYTE / answer["seconds"], 1)
        shown = {
            "logs": len(list(folder.iterdir())),
            "gigabytes": round(written / 1e9, 2),
            "megabytes_per_second": rate,
        }
        shown |= {"queries": len(rows), "judged": judged, **answer}
        sys.stdout.write(json.dumps(shown) + "\n")
    finally:
        if given.folder is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
