"""``rheostat whatif``: what another policy would have made of a recorded run, with the error of the
answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rheostat.cli.output import out_option, tell, working
from rheostat.cli.pairs import pairs
from rheostat.cli.whatif_answer import show_answer
from rheostat.model import Limits, Slo


def whatif(
    file: Annotated[
        str,
        typer.Argument(
            help="A journal's folder, or a recording with batches, arrivals, lag and executors."
        ),
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
        typer.Option("--max", help="Ceiling; default: the most that were recorded, or 8."),
    ] = None,
    slo: Annotated[
        float, typer.Option(help="Latency objective in seconds: later rows are late.")
    ] = 10.0,
    interval: Annotated[
        float | None,
        typer.Option(help="Seconds between two decisions; default: the recording's own step."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the plant's noise.")] = 0,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help=(
                "Print JSON: recorded, simulated_as_recorded, simulated_with_policy, saved_share,"
                " decisions, error, ..."
            ),
        ),
    ] = False,
    out: Annotated[Path | None, out_option()] = None,
) -> None:
    """Fit a simulated job to a recording, close the loop with a policy, and compare with what was
    recorded.

    Three columns: the run as it was recorded, the same sizes on the simulated job (how far the two
    are apart is the error), and the policy on the simulated job. On the journal of a shadow run
    this is the savings report.

    Example: rheostat whatif out/demo/journal --policy spark-batch-ratio --set up_ratio=0.8
    """
    from rheostat.replay import recording
    from rheostat.sim.fitting.counterfactual import Question
    from rheostat.sim.fitting.counterfactual import whatif as answer
    from rheostat.sim.fitting.recorded_run import recorded

    path = recording.find(file)
    run = recorded(recording.read(path))
    most = max(8, *(size for _, size in run.sizes)) if maximum is None else maximum
    question = Question(
        policy=policy,
        parameters=pairs(parameters or ()),
        limits=Limits.between(minimum, most),
        slo=Slo(latency_s=slo),
        interval_s=interval,
        seed=seed,
    )
    with working(f"fitting {path.name}"):
        found = answer(run, question)
    tell(found.as_json, as_json, out, lambda: show_answer(found))
