"""``rheostat run``: an unchanged PySpark script with the autoscaler around it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rheostat.cli.options import takes
from rheostat.cli.policy_choice import chosen
from rheostat.config import GuardOptions, LoopOptions, StateOptions
from rheostat.errors import BadInput
from rheostat.machine.signals import orderly_end

if TYPE_CHECKING:
    from rheostat.spark.warming.warm_start import WarmStart

DEFAULT_CEILING = 8


@takes(loop=LoopOptions, state=StateOptions, guards=GuardOptions)
def run(
    script: Annotated[Path, typer.Argument(help="The PySpark script.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Its own arguments, after --.")
    ] = None,
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
        typer.Option("--max", help="Ceiling of the number of executors; default: --local, else 8."),
    ] = None,
    slo: Annotated[float, typer.Option(help="Latency objective in seconds.")] = 10.0,
    shadow: Annotated[
        bool, typer.Option("--shadow", help="Only watch and advise; nothing is touched.")
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(
            help="Spark master; default: the one of your environment, else a local cluster."
        ),
    ] = None,
    local: Annotated[
        int | None,
        typer.Option(help="A local Standalone cluster with room for this many executors.", min=1),
    ] = None,
    kafka: Annotated[
        str | None,
        typer.Option(
            help="Ask this broker, host:port, for the lag; a local cluster gets Kafka's source."
        ),
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(help="Folder of the journal; default: in the user's state folder."),
    ] = None,
    *,
    loop: LoopOptions,
    state: StateOptions,
    guards: GuardOptions,
) -> int:
    """Run an unchanged PySpark script, sized live; its exit code is the script's.

    Without a master anywhere, a Spark Standalone cluster is started on this computer and ended with
    the script. A file STOP in the journal's folder stops the autoscaler within one tick; the script
    goes on.

    Example: rheostat run --min 1 --max 8 --slo 5 --kafka localhost:9092 app.py -- --my-option 7
    """
    from rheostat.spark.launch import master_of_environment, run_script
    from rheostat.spark.session import settings_of

    settings = settings_of(
        policy=policy,
        parameters=chosen(policy, parameters, folder=script.parent, script=script),
        slo=slo,
        limits=(minimum, _ceiling(maximum, local)),
        journal=journal,
        kafka={"bootstrap.servers": kafka} if kafka else None,
        loop=loop,
        guards=guards,
        placement=state.placement,
        standby=state.standby,
        shares=state.shares,
    )
    if not script.is_file():
        raise BadInput(f"there is no script {script}")
    if master and local:
        raise BadInput(f"--master {master} and --local {local} exclude each other")
    if local and settings.limits.max_executors > local:
        raise BadInput(
            f"--max {maximum} does not fit into a local cluster with room for {local}; raise"
            " --local or lower --max"
        )
    with ExitStack() as stack:
        stack.enter_context(orderly_end())
        options = _options(
            stack,
            settings,
            master or (None if local else master_of_environment()),
            local,
            shadow,
            script,
        )
        return run_script(
            script, arguments or (), options, lambda spark: _start(spark, settings, shadow)
        )


def _ceiling(maximum: int | None, local: int | None) -> int:
    return next((given for given in (maximum, local) if given is not None), DEFAULT_CEILING)


def _start(spark: Any, settings: Any, shadow: bool) -> Any:
    from rheostat.spark import session

    return session.watch(spark, settings) if shadow else session.size(spark, settings)


def _options(
    stack: ExitStack,
    settings: Any,
    master: str | None,
    local: int | None,
    shadow: bool,
    script: Path,
) -> dict[str, str]:
    """Return the static options of the session, and start a local cluster where there is no
    master.
    """
    from rheostat.local import executor_options

    if master:
        return {
            "spark.master": master,
            **({} if shadow else executor_options.scaling_options(settings.limits)),
        }
    import os

    from rheostat.kafka.jars import source_jars
    from rheostat.local.standalone import Cluster

    jars = source_jars().paths if settings.kafka else ()
    cluster = stack.enter_context(Cluster(cores=local or settings.limits.max_executors))
    os.environ.update(cluster.driver_environment())
    warm = _warm(script, cluster.folder, jars)
    options = executor_options.session_options(
        settings.limits, jars=jars, archive_flags=warm.flags if warm else ()
    )
    return {"spark.master": cluster.url, **options, **(warm.settings if warm else {})}


def _warm(script: Path, folder: Path, jars: Sequence[Path]) -> WarmStart | None:
    """Return how executors of the local cluster arrive warm; where they cannot, ``rheostat doctor``
    says why.
    """
    from rheostat.local.warm_arrivals import arrivals
    from rheostat.spark.warming.warm_start import of_script

    warm, cold = arrivals(of_script(script), folder, jars)
    if cold:
        logging.getLogger("rheostat").info("rheostat: %s", cold)
    return warm
