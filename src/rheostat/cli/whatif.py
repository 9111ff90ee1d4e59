"""``rheostat whatif``: what another policy would have made of a recorded run, with the error of the
answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.output import out_option, tell
from rheostat.cli.pairs import pairs
from rheostat.model import Limits, Slo

if TYPE_CHECKING:
    from rheostat.sim.fitting.counterfactual import Answer, Outcome
    from rheostat.sim.measures import Elasticity

_SHOWN = 40


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
    objective: Annotated[
        float, typer.Option(help="Latency objective in seconds: later rows are late.")
    ] = 10.0,
    interval: Annotated[
        float | None,
        typer.Option(help="Seconds between two decisions; default: the recording's own step."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the plant's noise.")] = 0,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON: as_recorded, with_policy, decisions, error, ..."),
    ] = False,
    out: Annotated[Path | None, out_option()] = None,
) -> None:
    """Fit a simulated job to a recording, close the loop with a policy, and compare with the
    recorded sizes.

    On the journal of a shadow run this is the savings report: slot-hours, late rows, the decisions,
    and how far the simulated job was off where it was not fitted.

    Example: rheostat whatif out/demo/journal --policy spark-batch-ratio --set up_ratio=0.8
    """
    from rich.console import Console

    from rheostat.replay import recording
    from rheostat.sim.fitting.counterfactual import Question
    from rheostat.sim.fitting.counterfactual import whatif as answer
    from rheostat.sim.fitting.recorded_run import recorded

    path = recording.find(file)
    run = recorded(recording.read(path))
    most = max(8, *(size for _, size in run.sizes)) if maximum is None else maximum
    limits = Limits.between(minimum, most)
    given, slo = pairs(parameters or ()), Slo(latency_s=objective)
    question = Question(
        policy=policy, parameters=given, limits=limits, slo=slo, interval_s=interval, seed=seed
    )
    with Console(stderr=True).status(f"fitting {path.name}"):
        found = answer(run, question)
    tell(found.as_json, as_json, out, lambda: _show(found, objective))


def _show(found: Answer, objective_s: float) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    outcomes = (found.as_recorded, found.with_policy)
    table = Table("", "as recorded", found.policy, box=None, header_style="bold")
    for label, name, unit in (
        ("slot-hours", "slot_hours", ".3f"),
        (f"rows later than {objective_s:g} s", "late_share", ".2%"),
        ("latency, mean, s", "latency_mean_s", ".1f"),
        ("latency, 99 %, s", "latency_p99_s", ".1f"),
        ("executors, mean", "executors_mean", ".2f"),
        ("rescalings", "rescalings", "d"),
    ):
        table.add_row(label, *(_cell(each, name, unit) for each in outcomes))
    for label, name in (
        ("executors missing", "accuracy_under"),
        ("executors too many", "accuracy_over"),
    ):
        table.add_row(
            f"{label}, mean, of the demand",
            *(_cell(each.elasticity, name, ".0f", " %") for each in outcomes),
        )
    console.print(table)
    more = "saves" if found.saved_slot_hours >= 0 else "costs more:"
    console.print(
        f"\n{found.policy} {more} {abs(found.saved_share):.0%} of the slot-hours"
        f" ({abs(found.saved_slot_hours):.3f})"
    )
    error = found.error
    console.print(
        f"error where the plant was not fitted: batch time {error.batch_s_median:.0%} at the"
        f" median, lag {error.lag_of_peak:.0%} of its peak, peak of the lag"
        f" {error.lag_peak_ratio:.0%} of the recorded one",
        soft_wrap=True,
    )
    for note in found.notes:
        console.print(f"note: {note}", soft_wrap=True)
    decisions = Table("time", "executors", "why", box=None, header_style="bold")
    for each in found.decisions[:_SHOWN]:
        decisions.add_row(
            f"{each.t_s:.0f} s", f"{each.before} -> {each.after}", escape(each.reason)
        )
    if found.decisions:
        console.print()
        console.print(decisions)
    if len(found.decisions) > _SHOWN:
        console.print(f"... and {len(found.decisions) - _SHOWN} more; all of them: --json")


def _cell(outcome: Outcome | Elasticity | None, name: str, unit: str, sign: str = "") -> str:
    value = getattr(outcome, name, None)
    return "none" if value is None else format(value, unit) + sign
