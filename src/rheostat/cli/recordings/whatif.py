"""``rheostat whatif`` and ``rheostat calibrate``: jobs simulated from a recorded run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.options import Floor, Interval, Parameters, PolicyName, chosen
from rheostat.cli.output import Out, emit, out_option, plain_table, print_first, working
from rheostat.model import Limits, Slo
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat.policies.third_party import search_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from rheostat.journal.events import Change
    from rheostat.sim.fitting.calibration import Calibration
    from rheostat.sim.fitting.counterfactual import Answer, Outcome
    from rheostat.sim.measures import Elasticity

RecordedRun = Annotated[
    str,
    typer.Argument(
        help="A journal's folder, or a recording with batches, arrivals, lag and executors."
    ),
]

_SAVES = 0.005
"""The smallest share of slot-hours that is reported as a saving: less rounds to 0 %."""

_KIND = 0.005
"""Difference in the share of late rows from which the simulation is reported as optimistic: half of
the error budget."""


def whatif(
    file: RecordedRun,
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
    given = chosen(policy, parameters, wanted)
    run = recorded(recording.read(path))
    most = max(8, *(size for _, size in run.sizes)) if maximum is None else maximum
    limits = Limits.between(minimum, most)
    question = Question(
        policy=policy, parameters=given, limits=limits, slo=wanted, interval_s=interval, seed=seed
    )
    with working(f"fitting {path.name}"):
        answered = answer(run, question)
    emit(dataclasses.asdict(answered), as_json, out, lambda: show_answer(answered))


def show_answer(answer: Answer) -> None:
    """Print a result."""
    from rich.console import Console

    console = Console(highlight=False)
    _show_outcomes(console, answer)
    for line in (verdict(answer), *errors(answer), *(f"note: {note}" for note in answer.notes)):
        console.print(line, soft_wrap=True, markup=False)
    if answer.decisions:
        _show_decisions(console, answer.decisions)


def verdict(answer: Answer) -> str:
    """Return the cost of the policy in one line; it claims a saving only if the SLO is met."""
    share, hours = abs(answer.more_slot_hours_share), abs(answer.more_slot_hours)
    fewer = answer.more_slot_hours_share <= -_SAVES
    takes = (
        f"{share:.0%} {'fewer' if fewer else 'more'} slot-hours than were recorded ({hours:.3f})"
    )
    within = f"99 % of the rows within {answer.slo.latency_s:g} s, 90 % in every five minutes"
    if not answer.simulated_with_policy.attained:
        late = answer.simulated_with_policy.late_share
        rows = "no row was committed" if late is None else f"{late:.2%} of the rows are late"
        no_saving = ", which is no saving" if fewer else ""
        return (
            f"{answer.policy} misses the objective ({within}): {rows}; it takes {takes}{no_saving}"
        )
    if answer.saved_share is None or answer.saved_share < _SAVES:
        return f"{answer.policy} keeps the objective ({within}) and takes {takes}"
    missed = "" if answer.recorded.attained else "; the recorded run missed it"
    return (
        f"{answer.policy} saves {answer.saved_share:.0%} of the recorded slot-hours ({hours:.3f})"
        f" and keeps the objective ({within}){missed}"
    )


def errors(answer: Answer) -> list[str]:
    """Return messages about the error, relative to the recorded run and on held-out data."""
    off, error = answer.deviation, answer.error
    late = "" if off.late_share is None else f"{100 * off.late_share:+.2f} points of late rows, "
    lines = [
        f"error, simulated as recorded against recorded: {late}latency"
        f" {_percent(off.latency_mean)} in the mean, {_percent(off.latency_p99)} at 99 %",
        f"error where the plant was not fitted: batch time {error.batch_s_median:.0%} at the"
        f" median, lag {error.lag_of_peak:.0%} of its peak, peak of the lag"
        f" {error.lag_peak_ratio:.0%} of the recorded one",
    ]
    if off.late_share is not None and off.late_share <= -_KIND:
        lines.append(
            "note: the simulation is optimistic compared with the recorded run: expect more late"
            f" rows than the column {answer.policy} has"
        )
    return lines


def _show_outcomes(console: Console, answer: Answer) -> None:
    outcomes = (answer.recorded, answer.simulated_as_recorded, answer.simulated_with_policy)
    table = plain_table("", "recorded", "simulated as recorded", f"simulated with {answer.policy}")
    for label, name, unit in (
        ("slot-hours", "slot_hours", ".3f"),
        (f"rows later than {answer.slo.latency_s:g} s", "late_share", ".2%"),
        ("objective kept", "attained", ""),
        ("latency, mean, s", "latency_mean_s", ".1f"),
        ("latency, 99 %, s", "latency_p99_s", ".1f"),
        ("executors, mean", "executors_mean", ".2f"),
        ("rescalings", "rescalings", "d"),
    ):
        table.add_row(label, *(_cell(outcome, name, unit) for outcome in outcomes))
    for label, name in (("missing", "accuracy_under"), ("too many", "accuracy_over")):
        table.add_row(
            f"{label}, of the demand",
            *(_cell(outcome.elasticity, name, ".0f", " %") for outcome in outcomes),
        )
    console.print(table)
    console.print()


def _show_decisions(console: Console, changes: Sequence[Change]) -> None:
    from rich.markup import escape

    rows = [
        (f"{change.t_s:.0f} s", f"{change.before} -> {change.after}", escape(change.reason))
        for change in changes
    ]
    console.print()
    print_first(console, plain_table("time", "executors", "why"), rows)


def _cell(outcome: Outcome | Elasticity | None, name: str, unit: str, sign: str = "") -> str:
    value = getattr(outcome, name, None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else format(value, unit) + sign


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share:+.0%}"


def calibrate(
    journal: RecordedRun,
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
    emit(dataclasses.asdict(calibration), as_json, out, lambda: _show_calibration(calibration))


def _show_calibration(calibration: Calibration) -> None:
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
            *(_share(getattr(part, name)) for part in (calibration.held_out, calibration.fitted)),
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
    parameters = calibration.parameters
    values = {one: getattr(parameters, one.name) for one in dataclasses.fields(parameters)}
    return [one for one, v in values.items() if isinstance(v, float | int) and v != one.default]


def _share(value: float | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.1%}"
