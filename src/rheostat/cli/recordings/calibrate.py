"""``rheostat calibrate``: fit the simulated Spark job to a recorded run, with its error."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.output import emit, out_option, plain_table, working

if TYPE_CHECKING:
    from rheostat.sim.fitting.calibration import Calibration


def calibrate(
    journal: Annotated[
        str,
        typer.Argument(
            help="A journal's folder, or a recording with batches, arrivals, lag and executors."
        ),
    ],
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print JSON: parameters, pace, held_out, fitted, sizes, notes."
        ),
    ] = False,
    out: Annotated[Path | None, out_option()] = None,
) -> None:
    """Fit the simulated Spark job to a recorded real run and report its error on held-out data.

    Held out are the 4th, 7th and 10th tenth of the run.

    Example: rheostat calibrate out/demo/journal
    """
    from rheostat.replay import recording
    from rheostat.sim.fitting.calibration import calibrate as fit
    from rheostat.sim.fitting.recorded_run import recorded

    path = recording.find(journal)
    with working(f"fitting {path.name}"):
        calibration = fit(recorded(recording.read(path)))
    emit(calibration.as_json, as_json, out, lambda: _show(calibration))


def _show(calibration: Calibration) -> None:
    from rich.console import Console

    table = plain_table("error", "held out", "fitted")
    for name, label in (
        ("batches", "batches"),
        ("batch_s_median", "batch time, median"),
        ("batch_s_p90", "batch time, 90 % of batches"),
        ("lag_of_peak", "lag, of its peak (rms)"),
        ("lag_mean_of_peak", "lag, of its peak (mean)"),
        ("lag_peak_ratio", "simulated peak of the lag, of the recorded"),
        ("latency_s_median", "latency, median"),
    ):
        table.add_row(
            label,
            *(_cell(getattr(part, name)) for part in (calibration.held_out, calibration.fitted)),
        )
    console = Console(highlight=False)
    console.print(table)
    parameters = ", ".join(
        f"{parameter.name} {getattr(calibration.parameters, parameter.name):.4g}"
        for parameter in _fitted(calibration)
    )
    console.print(f"\nparameters: {parameters}", soft_wrap=True)
    console.print(f"recorded sizes: {', '.join(map(str, calibration.sizes))}")
    for note in calibration.notes:
        console.print(f"note: {note}", soft_wrap=True)


def _fitted(calibration: Calibration) -> list[dataclasses.Field[object]]:
    """Return the parameters that differ from their defaults."""
    numbers = [
        option
        for option in dataclasses.fields(calibration.parameters)
        if isinstance(getattr(calibration.parameters, option.name), float | int)
    ]
    return [
        number
        for number in numbers
        if getattr(calibration.parameters, number.name) != number.default
    ]


def _cell(value: float | None) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.1%}"
