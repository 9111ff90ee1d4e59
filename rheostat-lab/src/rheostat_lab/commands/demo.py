"""``rheostat demo``: an autoscaled query on real Kafka and Spark, in one command."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.options import Parameters, chosen, takes
from rheostat.config import GuardOptions
from rheostat.errors import BadInput
from rheostat.policies.default_policy import DEFAULT_POLICY
from rheostat_lab.commands.demo_operator import demo_operator
from rheostat_lab.commands.demo_receivers import demo_receivers

if TYPE_CHECKING:
    from rheostat_lab.demo.demo_options import Demo


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDay:
    """The day that is played, and how and within which limits its query is sized."""

    query: str = field(default="q1", metadata={"help": "Nexmark query: q1, q2, q3, q5, q8 or q11"})
    seconds: float = field(default=240.0, metadata={"help": "length of the compressed day"})
    days: int = field(default=1, metadata={"help": "consecutive days; the second may be forecast"})
    peak: float | None = field(
        default=None,
        metadata={"help": "events per second at the peak; default: the capacity of the query"},
    )
    ramp_share: float = field(
        default=0.16, metadata={"help": "share of the day that its steep ramp takes"}
    )
    policy: str = field(default=DEFAULT_POLICY, metadata={"help": "policy that decides"})
    minimum: int = field(
        default=1, metadata={"flag": "--min", "help": "floor of the number of executors"}
    )
    maximum: int = field(
        default=4, metadata={"flag": "--max", "help": "ceiling of the number of executors"}
    )
    cores: int = field(default=2, metadata={"help": "slots of an executor"})
    cluster: str = field(
        default="standalone",
        metadata={"help": "where it runs, on this computer: standalone, yarn or kubernetes"},
    )
    source: str = field(
        default="kafka", metadata={"help": "what the query reads: kafka, files or delta"}
    )
    service_ms: float = field(
        default=2.0, metadata={"help": "wait per event, standing for a call to an outside system"}
    )
    seed: int = field(default=7, metadata={"help": "seed of the events and of the load's noise"})
    price_per_slot_hour: float | None = field(
        default=None,
        metadata={"help": "price of a slot-hour in any currency; shows the cost"},
    )


@takes(day=ShownDay, guards=GuardOptions)
def demo(
    parameters: Parameters = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Also run the same load at fixed sizes (8 more minutes)."),
    ] = False,
    receivers: Annotated[
        bool,
        typer.Option("--receivers", help="Use a push load; receivers are scaled as well."),
    ] = False,
    operator: Annotated[
        bool,
        typer.Option(
            "--operator",
            help="On Kubernetes, twice: sized by its own HPA with the metrics of Varga et al., and"
            " by the policy, through the same resource.",
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder of report.html, plot.png, summary.json and the journal.")
    ] = Path("out/demo"),
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the summary as JSON; progress goes to standard error."),
    ] = False,
    end_with_parent: Annotated[
        bool,
        typer.Option("--end-with-parent", hidden=True, help="End when the calling process does."),
    ] = False,
    *,
    day: ShownDay,
    guards: GuardOptions,
) -> int:
    """Show an autoscaled PySpark query on real Kafka: a day in four minutes, 1 to 4 real executors
    of two slots, and a check of the output.

    Exit code 0 only if the output is exact. Example: rheostat demo --query q11
    """
    if operator and day.source != "kafka":
        raise BadInput(f"--operator plays on Kafka: leave out --source {day.source}")
    if full and operator:
        raise BadInput("--full plays fixed sizes, --operator a resource of Kubernetes: choose one")
    if receivers:
        flags = {"--set": bool(parameters), "--full": full, "--operator": operator}
        _check_receivers(day, flags)
        return demo_receivers(day.seconds, guards, out, as_json, end_with_parent)
    wanted = _demo(day, chosen(day.policy, parameters), guards, out)
    if operator:
        return demo_operator(wanted, as_json, end_with_parent)
    return _play(wanted, full, as_json, end_with_parent)


def _demo(day: ShownDay, parameters: Mapping[str, Any], guards: GuardOptions, out: Path) -> Demo:
    """Return the demo of a day; raises BadInput for invalid options."""
    from rheostat_lab.demo.demo_options import Demo

    return Demo(
        query=day.query,
        seconds=day.seconds,
        days=day.days,
        peak=day.peak,
        ramp_share=day.ramp_share,
        policy=day.policy,
        parameters=parameters,
        min_executors=day.minimum,
        max_executors=day.maximum,
        cores=day.cores,
        service_ms=day.service_ms,
        seed=day.seed,
        guards=guards,
        price_per_slot_hour=day.price_per_slot_hour,
        cluster=day.cluster,
        source=day.source,
        out=out,
    )


def _check_receivers(day: ShownDay, flags: Mapping[str, bool]) -> None:
    """Raise BadInput for options that the demo of receivers ignores."""
    usual = ShownDay(seconds=day.seconds)
    ignored = [
        f"--{option.metadata.get('flag', option.name).lstrip('-').replace('_', '-')}"
        for option in fields(day)
        if getattr(day, option.name) != getattr(usual, option.name)
    ]
    if ignored := [*ignored, *(flag for flag, is_given in flags.items() if is_given)]:
        raise BadInput(
            f"--receivers plays a separate day: leave out {', '.join(ignored)}; it takes"
            " --seconds, --out, --json and the guards"
        )


def _play(wanted: Demo, full: bool, as_json: bool, end_with_parent: bool) -> int:
    from rich.console import Console

    from rheostat.machine.orderly_end import orderly_end
    from rheostat_lab.demo import results_folder as results
    from rheostat_lab.demo.demo_run import perform
    from rheostat_lab.demo.live_view import open_view
    from rheostat_lab.report.result_text import printed
    from rheostat_lab.report.summary import to_json

    results.check(wanted.out)
    console = Console(highlight=False, stderr=as_json)
    view = open_view("Rheostat", wanted.max_executors, wanted.slo.latency_s, console)
    with orderly_end(end_with_parent), view:
        run, summary = perform(wanted, view, full)
        view.finish(printed(run.title, summary))
    typer.echo(results.format_paths(wanted.out), err=as_json)
    if as_json:
        typer.echo(json.dumps(to_json(summary), indent=2))
    return 0 if summary.exact else 1
