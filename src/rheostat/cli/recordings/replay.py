"""``rheostat replay``: what a policy would have decided at each moment of recorded telemetry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.options import Floor, Interval, Parameters, PolicyName, chosen, takes
from rheostat.cli.output import emit_lines, out_option, plain_table, print_first, watched, working
from rheostat.config import GuardOptions
from rheostat.model import Limits, Slo
from rheostat.plural import counted
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.policies.third_party import search_first

if TYPE_CHECKING:
    from rheostat.replay.replayer import Decided, Request


def show_decisions(decided: Sequence[Decided], several: bool) -> None:
    """Print each decision that changes the size once, and a summary line."""
    from rich.console import Console
    from rich.markup import escape

    start_s = decided[0].t_s
    changes = [
        decision
        for number, decision in enumerate(decided)
        if _changes_size(decision) and (number == 0 or not _same(decision, decided[number - 1]))
    ]
    name_column = ["application"] if several else []
    table = plain_table("time", *name_column, "executors", "target", "why")
    rows = [
        (
            f"{change.t_s - start_s:.0f} s",
            *([escape(change.application or "")] if several else []),
            "?" if change.size is None else str(change.size),
            str(change.decision.target),
            escape(change.decision.reason),
        )
        for change in changes
    ]
    console = Console()
    if rows:
        print_first(console, table, rows)
    targets = [decision.decision.target for decision in decided]
    spread = (
        f"targets {min(targets)} to {max(targets)}, {sum(targets) / len(targets):.2f} on average"
    )
    console.print(
        f"{counted(len(decided), 'decision')}, {sum(map(_changes_size, decided))} of them for"
        f" another size than the present one; {spread}"
    )


def _changes_size(decided: Decided) -> bool:
    return decided.decision.target != decided.size


def _same(decided: Decided, before: Decided) -> bool:
    return (
        _changes_size(before)
        and decided.decision.target == before.decision.target
        and decided.application == before.application
    )


@takes(guards=GuardOptions)
def replay(
    file: Annotated[
        str,
        typer.Argument(help="CSV, Parquet, a journal, or the name of a recording of the package."),
    ],
    policy: PolicyName = DEFAULT_POLICY,
    parameters: Parameters = None,
    minimum: Floor = 1,
    maximum: Annotated[
        int | None,
        typer.Option(
            "--max", help="Ceiling of the number of executors; default: 1000, in effect none."
        ),
    ] = None,
    slo: Annotated[
        float | None,
        typer.Option(help="Latency objective in seconds; default: that of the policy, 10."),
    ] = None,
    interval: Interval = None,
    initial: Annotated[
        int | None,
        typer.Option(help="Start with this number of executors and apply each decision."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object per line and decision.")
    ] = False,
    out: Annotated[Path | None, out_option("Write the same JSON lines to this file.")] = None,
    spark: Annotated[
        str | None,
        typer.Option(help="Run as a Spark job on this master, one group per application."),
    ] = None,
    *,
    guards: GuardOptions,
) -> None:
    """Replay a recording with a policy and print the decisions, each from the data recorded until
    then.

    The columns are those of docs/guides/replay.md; a missing column or an empty cell is an absent
    signal. Example: rheostat replay query-1_HPA_50 --policy measured-throughput --max 16
    """
    from rheostat.replay import recording
    from rheostat.replay.replayer import CEILING, Request

    path = recording.find(file)
    if ":" in policy:
        search_first(path.parent)
    wanted = None if slo is None else Slo(latency_s=slo)
    request = Request(
        policy=policy,
        parameters=chosen(policy, parameters, wanted),
        limits=Limits.between(minimum, CEILING if maximum is None else maximum),
        slo=wanted,
        interval_s=interval,
        initial=initial,
        guards=guards,
    )
    if spark:
        emit_lines(_lines_of_job(spark, path, request), as_json or out is None, out)
    else:
        _replay_here(path, request, as_json, out)


def _replay_here(path: Path, request: Request, as_json: bool, out: Path | None) -> None:
    """Replay in this process, and show, print or write the decisions."""
    from rheostat.replay import recording
    from rheostat.replay.replayer import as_line, replay

    with working(f"reading {path.name}"):
        read = recording.read(path)
    several = len(read) > 1
    decided = list(watched(replay(read, request), "replaying", sum(map(len, read.values()))))
    if as_json or out:
        emit_lines((as_line(decision, several) for decision in decided), as_json, out)
    if not as_json:
        show_decisions(decided, several)


def _lines_of_job(master: str, path: Path, request: Request) -> Iterator[str]:
    from rheostat.local.local_session import replay_session
    from rheostat.replay.replayer import lines, read_frame, replay_job

    with replay_session(master) as session:
        yield from lines(replay_job(read_frame(session, path), request, path.name))
