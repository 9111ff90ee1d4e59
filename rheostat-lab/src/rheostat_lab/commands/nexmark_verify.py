"""``rheostat nexmark verify``: the output of the benchmark's queries against batch computations."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.output import emit, out_option, plain_table
from rheostat.errors import BadInput
from rheostat_lab.commands.progress_bar import progress

if TYPE_CHECKING:
    from rheostat_lab.demo.query_check import Checked

_FEWEST, _MOST = 1000, 20_000_000


def verify(
    queries: Annotated[str, typer.Option(help="Queries, separated by commas; default: all.")] = "",
    events: Annotated[int, typer.Option(help="Events of all kinds together.")] = 1_000_000,
    seed: Annotated[
        list[int] | None, typer.Option(help="Seed of the events; repeat it for several.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path | None, out_option()] = None,
) -> int:
    """Play Nexmark queries as streams in Spark's local mode and compare all rows that they write
    with a batch computation by DuckDB over the same events.

    Exit code 0 only if every output is exact. Example: rheostat nexmark verify --queries q3,q11
    """
    from rheostat_lab.nexmark.queries import QUERIES, find_query

    names = [find_query(name.strip()).name for name in queries.split(",") if name.strip()]
    if not _FEWEST <= events <= _MOST:
        raise BadInput(f"--events must be between {_FEWEST} and {_MOST}, but it is {events}")
    results = _checked(names or [*QUERIES], events, seed or [7])
    emit([asdict(result) for result in results], as_json, out, lambda: _show(results))
    return 0 if all(result.verdict.exact for result in results) else 1


def _checked(names: list[str], events: int, seeds: list[int]) -> list[Checked]:
    from rheostat.local.local_session import replay_session
    from rheostat.machine.scratch_folder import ScratchFolder
    from rheostat_lab.demo.query_check import SETTINGS, Checked, check, write_events

    results: list[Checked] = []
    with (
        ScratchFolder("nexmark") as folder,
        progress("queries", len(names) * len(seeds)) as done,
        replay_session("local[1]", "rheostat nexmark verify", SETTINGS) as spark,
    ):
        for seed in seeds:
            write_events(folder / f"{seed}", seed, events)
            for name in names:
                verdict, seconds = check(spark, name, folder / f"{seed}", folder / f"{seed}-{name}")
                results.append(Checked(name, seed, events, verdict, round(seconds, 1)))
                done(len(results))
    return results


def _show(results: list[Checked]) -> None:
    from rich.console import Console

    table = plain_table("query", "seed", "events", "rows", "exact", "seconds", "")
    for result in results:
        verdict = result.verdict
        cells: list[Any] = [result.query, result.seed, f"{result.events:,}"]
        cells += [f"{verdict.rows_out:,}", "yes" if verdict.exact else "no", result.seconds]
        table.add_row(*map(str, cells), "" if verdict.exact else verdict.detail)
    Console(highlight=False).print(table)
