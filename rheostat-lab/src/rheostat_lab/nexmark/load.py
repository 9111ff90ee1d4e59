"""The producer: writes events to Kafka at the rate of a workload, in real time; ``python -m
rheostat_lab.nexmark.load --help`` shows the options.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from rheostat.errors import BadInput, RheostatError
from rheostat.sim.workload import Workload
from rheostat_lab.loads.due_rows import DueRows
from rheostat_lab.loads.marks import marks
from rheostat_lab.loads.registry import WORKLOADS, create, parameters
from rheostat_lab.loads.text import parse, with_seed
from rheostat_lab.loads.trace_file import find_trace, read_trace
from rheostat_lab.nexmark.curve import CurveFile, Point
from rheostat_lab.nexmark.event_topic import SourceTopics, open_topic

# The rows of a tick have the same time, so a tick is short relative to the shortest trigger (0.1
# s).
TICK_S = 0.05
CHUNK_ROWS = 5000
OUTAGE_S = 1.0
FLUSH_S = 60.0
# After Ctrl-C, users wait this long for the last rows instead of a minute.
FLUSH_AFTER_STOP_S = 10.0
DAY_S = 86_400.0


class Topic(Protocol):
    """The destination of the rows; row n is the n-th row of the topic's data."""

    def write(self, first: int, count: int, created_ms: int) -> int:
        """Queue rows and return the number of accepted ones."""

    def waiting(self) -> int:
        """Return the number of rows that are not acknowledged."""

    def flush(self, within_s: float) -> int:
        """Wait for acknowledgement; return the number of remaining rows."""


class Clock(Protocol):
    """Unix time and sleep."""

    def time(self) -> float:
        """Return Unix seconds."""

    def sleep(self, seconds: float) -> None:
        """Sleep for some seconds."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows sent, seconds since the profile's start, CPU-seconds of this process, and rows that
    the broker has not acknowledged.
    """

    rows: int
    seconds: float
    cpu_s: float
    unacked: int


class Outage:
    """Determines when no rows should be created: from a second without an acknowledgement until no
    rows are unacknowledged.

    A broker that recovers therefore never gets old rows of one partition after much newer rows of
    another one, which a query with a watermark would drop as late.
    """

    def __init__(self) -> None:
        self._acked = 0
        self._moved_s = 0.0
        self._lasts = False

    def lasts(self, rows: int, waiting: int, now: float) -> bool:
        """Return whether there is an outage at ``now``, with ``rows`` created, of which ``waiting``
        are not acknowledged.
        """
        # Another acknowledgement, or no unacknowledged rows, shows that the broker is available.
        if waiting == 0 or rows - waiting > self._acked:
            self._acked, self._moved_s = rows - waiting, now
        self._lasts = waiting > 0 and (self._lasts or now - self._moved_s > OUTAGE_S)
        return self._lasts


def follow(
    workload: Workload,
    topic: Topic,
    *,
    start_at: float,
    seconds: float | None,
    curve: CurveFile | None = None,
    stopped: Callable[[], bool] = lambda: False,
    clock: Clock = time,
) -> Summary:
    """Write the rows of ``workload`` as they become due from ``start_at`` (Unix seconds) for
    ``seconds`` (None: until stopped).

    Ticks are ``TICK_S`` apart. Rows that are late (a slow machine, a full queue, an outage, a start
    in the past) are caught up at full speed, with the time of their real creation. Flushes at the
    end.
    """
    due, rows, requested_end_s, outage = (
        DueRows(workload, TICK_S),
        0,
        seconds if seconds is not None else float("inf"),
        Outage(),
    )
    while not stopped():
        now = clock.time()
        t_s = now - start_at
        if t_s >= 0:
            # From the integral of the rate, so that rows which one tick could not send are due in
            # the next.
            behind = due.until(min(t_s, requested_end_s)) - rows
            held = outage.lasts(rows, topic.waiting(), now)
            taken = (
                # In chunks, so that each part of a long backlog has the time of its real creation.
                topic.write(rows, min(behind, CHUNK_ROWS), int(now * 1000))
                if behind and not held
                else 0
            )
            rows += taken
            if curve:
                curve.note(
                    Point(
                        now,
                        rows,
                        rows - topic.waiting(),
                        workload.rate_per_s(t_s) if t_s < requested_end_s else 0.0,
                    )
                )
            if t_s >= requested_end_s and taken == behind:
                break
            # After a full chunk more rows are due, so there is no sleep.
            if taken == CHUNK_ROWS:
                continue
        # At least a millisecond, so that a slow machine lets the producer's own thread run.
        clock.sleep(max(0.001, min(TICK_S, now + TICK_S - clock.time())))
    left = topic.flush(FLUSH_AFTER_STOP_S if stopped() else FLUSH_S)
    end = clock.time()
    if curve:
        curve.close(Point(end, rows, rows - left, 0.0))
    return Summary(
        rows=rows,
        seconds=round(max(0.0, end - start_at), 3),
        cpu_s=round(time.process_time(), 3),
        unacked=left,
    )


def workload_of(
    name: str, settings: Sequence[str] = (), seed: int | None = None, trace: Path | None = None
) -> Workload:
    """Return the workload of the command line: its name, ``key=value`` settings, the seed if it has
    one, and the trace's file.

    Raises BadInput for invalid values.
    """
    given: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise BadInput(
                f"a setting is written name=value, such as low=300, but this one is {setting!r}"
            )
        given[key] = value
    if (name == "trace") != (trace is not None):
        raise BadInput(
            "workload trace and option --trace FILE go together: one names the kind, the other the"
            " recording"
        )
    if trace is not None:
        recorded = read_trace(trace)
        given = {"times_s": recorded.times_s, "rates": recorded.rates, **given}
    if (
        seed is not None
        and name in WORKLOADS
        and any(field.name == "seed" for field in parameters(WORKLOADS[name]))
    ):
        given.setdefault("seed", seed)
    return create(name, given)


def open_topics(bootstrap: str, topics: Sequence[str], seed: int) -> SourceTopics:
    """Return the topics of a command line, each TOPIC (of bids) or KIND=TOPIC, as one; raises
    BadInput if one does not exist.
    """
    named = [topic.rpartition("=") for topic in topics]
    return SourceTopics(
        [open_topic(bootstrap, topic, seed, kind or "bids") for kind, _, topic in named]
    )


def start_of(start_at: float | None, now: float) -> float:
    """Return the Unix time of the profile's second 0, by default now; raises BadInput if it is more
    than a day away.
    """
    if start_at is not None and abs(start_at - now) > DAY_S:
        raise BadInput(
            f"--start-at is a Unix time within a day of now ({now:.0f}), but it is {start_at:g}"
        )
    return now if start_at is None else start_at


def main(
    bootstrap: Annotated[str, typer.Option(help="Kafka broker, host:port.")],
    topic: Annotated[
        list[str],
        typer.Option(
            help="Topic of bids, or KIND=TOPIC; several share the rate equally. They must exist."
        ),
    ],
    workload: Annotated[str, typer.Option(help=f"One of {', '.join(WORKLOADS)}.")] = "day",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the workload, name=value; repeatable."),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="CSV of a recorded load (workload trace).")
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(help="The workload as one text instead: cosine:shift=900 + 0.5 * bursts."),
    ] = None,
    load_seed: Annotated[int, typer.Option(help="Added to the seeds of --load.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the events and of the workload's noise.")] = 7,
    seconds: Annotated[
        float | None,
        typer.Option(min=0, help="How long; default: the workload's duration, else until SIGTERM."),
    ] = None,
    start_at: Annotated[
        float | None, typer.Option(help="Unix time of the profile's second 0; default: now.")
    ] = None,
    curve: Annotated[
        Path | None, typer.Option(help="File for the arrival curve, JSON lines.")
    ] = None,
) -> None:
    """Write Nexmark events into Kafka topics at the rate of a workload; the last line of output is
    a JSON summary.
    """
    stop: list[int] = []
    # Only recorded: the loop ends with its tick and flushes, so that no bid is lost.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _: stop.append(got))
    try:
        profile = (
            with_seed(parse(load, find_trace), load_seed)
            if load
            else workload_of(workload, settings or (), seed, trace)
        )
        begin = start_of(start_at, time.time())
        target = open_topics(bootstrap, topic, seed)
        file = CurveFile(curve, begin, marks(profile)) if curve else None
        duration_s = seconds if seconds is not None else profile.duration_s
        summary = follow(
            profile,
            target,
            start_at=begin,
            seconds=duration_s,
            curve=file,
            stopped=lambda: bool(stop),
        )
    except RheostatError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(error.exit_code) from None
    typer.echo(json.dumps(asdict(summary)))
    sys.exit(1 if summary.unacked else 0)


if __name__ == "__main__":
    typer.run(main)
