"""``rheostat doctor``: supported features, inactive ones with the reason, and a query's costs."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.options import pairs
from rheostat.cli.output import AsJson, Out, emit, plain_table
from rheostat.errors import BadInput

if TYPE_CHECKING:
    from rich.table import Table

    from rheostat.diagnosis.shape_experiment import Gain
    from rheostat.journal.bindings import Binding
    from rheostat.model import Finding


RealTime = Annotated[
    str | None,
    typer.Option(
        "--real-time",
        help="Count the slots that a query on these topics (a,b) needs in real-time mode.",
    ),
]
Broker = Annotated[
    str | None, typer.Option(help="The broker of these topics: host:port or a properties file.")
]
Shuffles = Annotated[
    int, typer.Option(help="Shuffles of that query: one for each keyed operator.", min=0)
]


def doctor(
    checkpoint: Annotated[
        Path | None, typer.Option(help="The checkpoint of a query, on a local disk.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--conf", help="A setting of your session, name=value; repeatable."),
    ] = None,
    slots: Annotated[
        int | None, typer.Option(help="Maximum number of slots: executors x cores.", min=1)
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(help="The journal of a run: report what limits each of its queries."),
    ] = None,
    measure: Annotated[
        bool,
        typer.Option(
            "--measure",
            help="Measure the effect of each recommendation on a local cluster; takes two minutes.",
        ),
    ] = False,
    real_time: RealTime = None,
    kafka: Broker = None,
    shuffles: Shuffles = 1,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Report what this computer allows and how the shape of a query could be improved.

    To examine a running session from inside, use rheostat.doctor(spark).

    With the journal of a run, also report whether more executors would help, and if not, why.

    A query in real-time mode needs all of its slots when it starts: --real-time counts them from
    the broker and spark.sql.shuffle.partitions, and compares them with --slots.

    Example: rheostat doctor --journal out/demo/journal
    """
    from rheostat.diagnosis.hosting import machine_findings, platform_findings
    from rheostat.journal.bindings import finding_of

    given = pairs(settings or (), "setting", "spark.executor.cores=4")
    bound = _bindings(journal) if journal else ()
    findings = [
        *machine_findings(),
        *platform_findings(given, os.environ),
        *_shape(checkpoint, given, slots),
        *(_real_time(real_time, kafka, shuffles, given, slots) if real_time else ()),
        *(finding_of(binding, str(checkpoint or "CHECKPOINT")) for binding in bound),
    ]
    gains = _measured(quiet=as_json) if measure else []
    answer = {
        "findings": [asdict(finding) for finding in findings],
        "measured": [asdict(gain) for gain in gains],
        **({"bindings": [asdict(binding) for binding in bound]} if journal else {}),
    }
    emit(answer, as_json, out, lambda: _show(findings, gains))


def _shape(
    checkpoint: Path | None, settings: dict[str, Any], slots: int | None
) -> tuple[Finding, ...]:
    from rheostat.diagnosis.checkpoint_settings import read_checkpoint
    from rheostat.local.spark_home import find_spark_home
    from rheostat.spark.sensing.query_shape import Query, shape

    known = read_checkpoint(checkpoint) if checkpoint else None
    partitions = known.state_partitions if known else None
    query = Query(name=known.name, state_partitions=partitions, slots=slots) if known else None
    given = {name: str(value) for name, value in settings.items()}
    return shape(
        {**(known.settings if known else {}), **given},
        query,
        spark_version=find_spark_home().version,
        checkpoint=str(checkpoint) if checkpoint else None,
    )


def _real_time(
    topics: str, kafka: str | None, shuffles: int, given: dict[str, str], slots: int | None
) -> tuple[Finding]:
    """Return the slots needed in real-time mode; raises BadInput if the broker lacks the topics."""
    from rheostat.clusters.scaling_settings import CORES
    from rheostat.diagnosis.real_time import SlotNeed, topic_partitions
    from rheostat.kafka.client import client_config
    from rheostat.spark.sensing.query_shape import SHUFFLE_PARTITIONS

    if kafka is None:
        raise BadInput("--real-time needs the broker of its topics: --kafka host:port")
    counted = topic_partitions(client_config(kafka), topics.split(","))
    if counted is None:
        raise BadInput(f"the broker {kafka} did not answer, or has no topic {topics}")
    partitions, cores = (
        _count(given, name, default)
        for name, default in ((SHUFFLE_PARTITIONS, "200"), (CORES, "1"))
    )
    need = SlotNeed(sources=((topics, counted),), shuffles=(partitions,) * shuffles)
    return (need.finding(slots, cores),)


def _count(given: dict[str, str], name: str, default: str) -> int:
    text = given.get(name, default)
    if not text.isdecimal() or int(text) < 1:
        raise BadInput(f"{name} must be a whole number of at least 1, but it is {text!r}")
    return int(text)


def _bindings(journal: Path) -> tuple[Binding, ...]:
    """Return the bottleneck of each query of a journal; raises BadInput if batches are too few."""
    from rheostat.cli.explain import kept_records
    from rheostat.journal.bindings import bindings

    observations = [
        query
        for record in kept_records(journal)
        for query in (record.queries or ([record.observation] if record.observation else ()))
    ]
    of_queries = bindings(observations)
    if not of_queries:
        raise BadInput(
            f"the journal {journal} has too few batches to identify a bottleneck: no query had"
            " three batches at one size"
        )
    return of_queries


def _measured(quiet: bool) -> list[Gain]:
    from rheostat.diagnosis.shape_experiment import measure, shape_session

    with shape_session() as spark:
        return measure(
            spark,
            (lambda _: None) if quiet else lambda line: typer.echo(f"measuring: {line}", err=True),
        )


def _show(findings: list[Finding], gains: list[Gain]) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    colours = {"good": "green", "advice": "yellow", "idle": "yellow"}
    for finding in findings:
        console.print(
            f"[{colours[finding.state]}]{finding.state:6}[/] [bold]{escape(finding.topic)}[/bold]:"
            f" {escape(finding.line)}"
        )
        if finding.setting:
            console.print(f"         {escape(finding.setting)}")
    if gains:
        console.print()
        console.print(_table(gains))
    else:
        console.print("\nTo measure the effect on this computer: rheostat doctor --measure")


def _table(gains: list[Gain]) -> Table:
    title = "a keyed count of 2,000 rows a batch on two slots, measured here"
    columns = ("", "s a batch without", "with", "less", "95 % interval", "n")
    table = plain_table(*columns, title=title)
    for gain in gains:
        interval = f"{gain.low_s:.3f} to {gain.high_s:.3f}"
        table.add_row(
            gain.setting,
            f"{gain.without_s:.3f}",
            f"{gain.with_s:.3f}",
            f"{gain.gain_s:.3f}",
            interval,
            str(gain.n),
        )
    return table
