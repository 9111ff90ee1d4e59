"""``rheostat replay``: what a policy would have said at each moment of recorded telemetry."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.options import takes
from rheostat.cli.output import out_option, write_out
from rheostat.cli.pairs import pairs
from rheostat.config import GuardOptions
from rheostat.model import Limits

if TYPE_CHECKING:
    from rich.status import Status

    from rheostat.replay.replayer import Decided, Request

_SHOWN = 40


@takes(guards=GuardOptions)
def replay(
    file: Annotated[
        str,
        typer.Argument(help="CSV, Parquet, a journal, or the name of a recording of the package."),
    ],
    policy: Annotated[
        str, typer.Option(help="Policy by name, or your own as module:Class.")
    ] = "measured-throughput",
    parameters: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the policy, name=value; repeat it."),
    ] = None,
    minimum: Annotated[int, typer.Option("--min", help="Floor of the number of executors.")] = 1,
    maximum: Annotated[
        int | None,
        typer.Option(
            "--max", help="Ceiling of the number of executors; default: 1000, in effect none."
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(help="Seconds between two decisions; default: the recording's own step."),
    ] = None,
    initial: Annotated[
        int | None, typer.Option(help="Start from so many executors and feed each decision back.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line and decision.")
    ] = False,
    out: Annotated[Path | None, out_option("Write the same JSON lines to this file.")] = None,
    spark: Annotated[
        str | None,
        typer.Option(help="Run as a Spark job on this master, one group an application."),
    ] = None,
    *,
    guards: GuardOptions,
) -> None:
    """Feed a recording to a policy, each decision from what was recorded up to then, and print what
    it says.

    The columns are those of docs/guides/replay.md; a missing column or an empty cell is an
    absent signal.

    Example: rheostat replay query-1_HPA_50 --policy measured-throughput --max 16
    """
    from rheostat.replay import recording
    from rheostat.replay.replayer import CEILING, Request, as_line
    from rheostat.replay.replayer import replay as decisions

    limits = Limits.between(minimum, CEILING if maximum is None else maximum)
    request = Request(
        policy=policy,
        parameters=pairs(parameters or ()),
        limits=limits,
        interval_s=interval,
        initial=initial,
        guards=guards,
    )
    request.make()
    path = recording.find(file)
    if spark:
        _hand_out(_lines_of_job(spark, path, request), out, as_json or out is None)
        return
    with _said(f"reading {path.name}"):
        read = recording.read(path)
    several = len(read) > 1
    decided = list(_watched(decisions(read, request), sum(map(len, read.values()))))
    if as_json or out:
        _hand_out((as_line(each, several) for each in decided), out, as_json)
    if not as_json:
        _show(decided, several)


def _hand_out(lines: Iterable[str], out: Path | None, echo: bool) -> None:
    """Write the lines to the file, print them, or both."""
    said = map(_printed, lines) if echo else lines
    if out:
        write_out(out, said)
    else:
        deque(said, maxlen=0)


def _printed(line: str) -> str:
    print(line)
    return line


def _said(what: str) -> Status:
    """Show on a terminal what is done."""
    from rich.console import Console

    return Console(stderr=True).status(what)


def _watched(decided: Iterator[Decided], moments: int) -> Iterator[Decided]:
    """Show on a terminal how far it is."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(
        decided,
        "replaying",
        total=moments,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _lines_of_job(master: str, path: Path, request: Request) -> Iterator[str]:
    from rheostat.local.replay_session import replay_session
    from rheostat.replay.jobs import lines, read_frame, replay_job

    with replay_session(master) as session:
        yield from lines(replay_job(read_frame(session, path), request, path.name))


def _show(decided: Sequence[Decided], several: bool) -> None:
    """Print where the policy asks for another size than the one that stood, each time once, and a
    line for the whole.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    start_s = decided[0].t_s
    asked = [
        each
        for number, each in enumerate(decided)
        if _asks(each) and (number == 0 or not _same(each, decided[number - 1]))
    ]
    table = Table(
        "time",
        *(["application"] if several else []),
        "executors",
        "target",
        "why",
        box=None,
        header_style="bold",
    )
    for each in asked[:_SHOWN]:
        size = "?" if each.size is None else str(each.size)
        names = [escape(each.application or "")] if several else []
        table.add_row(
            f"{each.t_s - start_s:.0f} s",
            *names,
            size,
            str(each.decision.target),
            escape(each.decision.reason),
        )
    console = Console()
    if asked:
        console.print(table)
    if len(asked) > _SHOWN:
        console.print(f"... and {len(asked) - _SHOWN} more; all of them: --json")
    targets = [each.decision.target for each in decided]
    spread = (
        f"targets {min(targets)} to {max(targets)}, {sum(targets) / len(targets):.2f} on average"
    )
    console.print(
        f"{len(decided)} decisions, {sum(map(_asks, decided))} of them for another size than the"
        f" one that stood; {spread}"
    )


def _asks(each: Decided) -> bool:
    return each.decision.target != each.size


def _same(each: Decided, before: Decided) -> bool:
    return (
        _asks(before)
        and each.decision.target == before.decision.target
        and each.application == before.application
    )
