"""The days of an experiment with policies, one after the other; what is there is not played
again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import typer

from rheostat.cli.output import write_out
from rheostat.errors import BadInput, RheostatError
from rheostat_lab.demo import results_folder
from rheostat_lab.experiment_file import spec_of
from rheostat_lab.live.day_process import play
from rheostat_lab.live.played_day import PlayedDay, is_played, read_day
from rheostat_lab.live.policies_spec import OF_A_DAY, PoliciesSpec
from rheostat_lab.live.policy_table import sentences, table
from rheostat_lab.live.prediction_table import prediction_table


def prepared(path: Path, values: Mapping[str, Any]) -> Callable[[str, Path], dict[str, Any]]:
    """Return what plays the days of a file; raises BadInput for what it cannot be."""
    return partial(_run, spec_of(PoliciesSpec, path, values))


def read_days(spec: PoliciesSpec, folder: Path) -> list[PlayedDay]:
    """Return the days of a specification that were played to their end."""
    days = (read_day(folder / cell.name, cell) for cell in spec.cells())
    return [day for day in days if day is not None]


def lines(spec: PoliciesSpec, days: list[PlayedDay]) -> list[str]:
    """Return the result as tables in Markdown and what they say."""
    output = []
    for query in spec.queries:
        played = [day for day in days if day.query == query]
        output += [f"{query}:", *table(played, spec.policies), *sentences(played, spec.policies)]
    return [*output, *prediction_table(days, spec.queries)]


def _run(spec: PoliciesSpec, name: str, out: Path) -> dict[str, Any]:
    """Play the days that are not there into NAME/, and write NAME.json after each; raises
    RheostatError at the end where one came to no summary.
    """
    _require_same_days(spec, out / f"{name}.json")
    folder, cells, failed = out / name, list(spec.cells()), []
    missing = [
        numbered for numbered in enumerate(cells, 1) if not is_played(folder / numbered[1].name)
    ]
    for _, cell in missing:
        results_folder.check(folder / cell.name)
    result = _kept(spec, name, out)
    for number, cell in missing:
        log = folder / f"{cell.name}.log"
        typer.echo(f"{name}: {cell.name}, day {number} of {len(cells)}; log: {log}", err=True)
        try:
            play(spec.demo(cell, folder / cell.name), log)
        except RheostatError as error:
            # The other days are worth as much without it.
            failed.append(cell.name)
            typer.echo(f"{name}: {cell.name} {error}", err=True)
        result = _kept(spec, name, out)
    typer.echo("\n".join(result["told"]), err=True)
    if failed:
        raise RheostatError(
            f"{len(failed)} of {len(cells)} days failed ({failed[0]} first); what is there is not"
            " played again"
        )
    return result


def _kept(spec: PoliciesSpec, name: str, out: Path) -> dict[str, Any]:
    days = read_days(spec, out / name)
    rows = [asdict(day) for day in days]
    result = {"name": name, "spec": asdict(spec), "rows": rows, "told": lines(spec, days)}
    write_out(out / f"{name}.json", [json.dumps(result, indent=2)])
    return result


def _require_same_days(spec: PoliciesSpec, path: Path) -> None:
    """Raise BadInput where the days that are there are others: of another length, for instance."""
    if not path.exists():
        return
    try:
        before = json.loads(path.read_text(encoding="utf-8"))["spec"]
        was = {name: before[name] for name in OF_A_DAY}
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(f"{path} is no result of this experiment; name another --out") from None
    wanted = {name: getattr(spec, name) for name in OF_A_DAY}
    others = [
        f"{name} {was[name]}, not {wanted[name]}" for name in OF_A_DAY if was[name] != wanted[name]
    ]
    if others:
        raise BadInput(f"{path} has days of {', '.join(others)}; name another --out")
