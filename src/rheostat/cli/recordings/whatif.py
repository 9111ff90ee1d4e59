"""``rheostat whatif``: a recorded run under another policy, with the error of the answer."""

from __future__ import annotations

from typing import Annotated

import typer

from rheostat.cli.options.options import Floor, Interval, Parameters, PolicyName, chosen
from rheostat.cli.output import Out, emit, working
from rheostat.cli.recordings.whatif_answer import show_answer
from rheostat.model import Limits, Slo
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.policies.third_party import search_first


def whatif(
    file: Annotated[
        str,
        typer.Argument(
            help="A journal's folder, or a recording with batches, arrivals, lag and executors."
        ),
    ],
    policy: PolicyName = DEFAULT_POLICY,
    parameters: Parameters = None,
    minimum: Floor = 1,
    maximum: Annotated[
        int | None,
        typer.Option("--max", help="Ceiling; default: the most that were recorded, or 8."),
    ] = None,
    slo: Annotated[
        float, typer.Option(help="Latency objective in seconds: later rows are late.")
    ] = 10.0,
    interval: Interval = None,
    seed: Annotated[int, typer.Option(help="Seed of the plant's noise.", min=0)] = 0,
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
    out: Out = None,
) -> None:
    """Fit a simulated job to a recording, run it with a policy, and compare the result with the
    recording.

    The three columns are the recorded run, the simulated job with the recorded sizes (the
    difference is the error), and the simulated job with the policy. For the journal of a shadow
    run this is the savings report.

    Example: rheostat whatif out/demo/journal --policy spark-batch-ratio --set up_ratio=0.8
    """
    from rheostat.replay import recording
    from rheostat.sim.fitting.counterfactual import Question
    from rheostat.sim.fitting.counterfactual import whatif as answer
    from rheostat.sim.fitting.recorded_run import recorded

    path, wanted = recording.find(file), Slo(latency_s=slo)
    if ":" in policy:
        search_first(path.parent)
    given = chosen(policy, parameters, slo=wanted)
    run = recorded(recording.read(path))
    most = max(8, *(size for _, size in run.sizes)) if maximum is None else maximum
    limits = Limits.between(minimum, most)
    question = Question(
        policy=policy, parameters=given, limits=limits, slo=wanted, interval_s=interval, seed=seed
    )
    with working(f"fitting {path.name}"):
        answered = answer(run, question)
    emit(answered.as_json, as_json, out, lambda: show_answer(answered))
