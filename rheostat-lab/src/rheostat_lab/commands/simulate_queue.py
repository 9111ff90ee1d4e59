"""``rheostat simulate queue``: the simulator's engine against queueing theory."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.output import emit, out_option

if TYPE_CHECKING:
    from rheostat_lab.validation.theory_queue import QueueSpec, Validation


def queue(
    servers: Annotated[int, typer.Option(help="Servers, all alike.")] = 1,
    arrival: Annotated[
        float, typer.Option(help="Customers that arrive per second (Poisson).")
    ] = 0.8,
    service: Annotated[
        float, typer.Option(help="Customers that one server works off per second.")
    ] = 1.0,
    law: Annotated[
        str, typer.Option(help="Service times: exponential (M/M/c) or deterministic (M/D/1).")
    ] = "exponential",
    customers: Annotated[int, typer.Option(help="Customers counted in each run.")] = 20_000,
    runs: Annotated[int, typer.Option(help="Independent runs.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path | None, out_option()] = None,
) -> None:
    """Compare the engine with queueing theory: mean wait and its 99 % interval, Little's law,
    conservation.

    Example: rheostat simulate queue --servers 3 --arrival 2.4 --service 1
    """
    from rheostat_lab.validation.theory_queue import QueueSpec, validate

    spec = QueueSpec(servers=servers, arrival_per_s=arrival, service_per_s=service, law=law)
    validation = validate(spec, seed=seed, customers=customers, runs=runs)
    result = {
        **asdict(spec),
        "load": spec.load,
        "seed": seed,
        "customers": customers,
        "runs": runs,
        **asdict(validation),
    }
    emit(result, as_json, out, lambda: _show(spec, validation))


def _show(spec: QueueSpec, validation: Validation) -> None:
    theory = (
        "no closed form"
        if validation.theory_wait_s is None
        else f"{validation.theory_wait_s:.6g} s"
    )
    interval = (
        f"{validation.wait_low_s:.6g} to {validation.wait_high_s:.6g} s"
        f" at {validation.confidence:.0%}"
    )
    print(
        f"load {spec.load:.3g}; mean wait in theory: {theory}; simulated: {validation.wait_s:.6g} s"
        f" ({interval})"
    )
    if validation.within is not None:
        print(
            "the theory lies within the interval"
            if validation.within
            else "the theory lies OUTSIDE the interval"
        )
    print(
        f"Little's law: {validation.number:.6g} inside on average, rate x time is"
        f" {validation.rate_x_time:.6g}"
    )
    print(
        f"conservation: {validation.arrived} arrived = {validation.left} left"
        f" + {validation.inside} inside"
    )
