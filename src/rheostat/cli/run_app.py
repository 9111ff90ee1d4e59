"""``rheostat run``: an unchanged PySpark script with the autoscaler around it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rheostat.cli.options import takes
from rheostat.cli.policy_choice import chosen
from rheostat.cli.run_options import Place, Sizing, Telling
from rheostat.config import (
    AgentOptions,
    GuardOptions,
    JournalOptions,
    LoopOptions,
    RestartOptions,
    StateOptions,
)
from rheostat.errors import BadInput
from rheostat.machine.orderly_end import orderly_end

if TYPE_CHECKING:
    from rheostat.local.app_run import Request
    from rheostat.spark.settings import Settings


@takes(
    sizing=Sizing,
    place=Place,
    telling=Telling,
    loop=LoopOptions,
    restarts=RestartOptions,
    state=StateOptions,
    guards=GuardOptions,
    retention=JournalOptions,
    agent=AgentOptions,
)
def run(
    script: Annotated[Path, typer.Argument(help="The PySpark script.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Its own arguments, after --.")
    ] = None,
    *,
    sizing: Sizing,
    place: Place,
    telling: Telling,
    loop: LoopOptions,
    restarts: RestartOptions,
    state: StateOptions,
    guards: GuardOptions,
    retention: JournalOptions,
    agent: AgentOptions,
) -> int:
    """Run an unchanged PySpark script, sized live; its exit code is the script's.

    Without a master anywhere, a Spark Standalone cluster is started on this computer and ended with
    the script. What you have set in Spark stays: in spark-defaults.conf, PYSPARK_SUBMIT_ARGS, the
    environment and the script itself. A file STOP in the journal's folder stops the autoscaler
    within one tick; the script goes on.

    With --actuator restart the size is changed by restarts of the script, for sessions where it
    cannot be changed live; rheostat restart tells them and orders one.

    Example: rheostat run --min 1 --max 8 --slo 5 --kafka localhost:9092 app.py -- --my-option 7
    """
    settings = _settings(script, sizing, place, loop, state, guards, retention, agent)
    request = _request(script, settings, sizing, place)
    if telling.show_settings:
        from rheostat.cli.shown_settings import show

        show(request, telling.as_json, telling.out)
        return 0
    if restarts.actuator == "restart":
        from rheostat.cli.supervised_run import run_supervised

        return run_supervised(request, arguments or [], restarts, telling)
    return _run(request, arguments or [], telling)


def _settings(
    script: Path,
    sizing: Sizing,
    place: Place,
    loop: LoopOptions,
    state: StateOptions,
    guards: GuardOptions,
    retention: JournalOptions,
    agent: AgentOptions,
) -> Settings:
    """Return how to size; raises BadInput for what cannot be used."""
    from rheostat.kafka.client_config import client_config
    from rheostat.spark.session import settings_of

    return settings_of(
        policy=sizing.policy,
        parameters=chosen(sizing.policy, sizing.parameters, folder=script.parent, script=script),
        slo=sizing.slo,
        limits=(sizing.minimum, place.ceiling(sizing.maximum)),
        journal=place.journal,
        kafka=client_config(place.kafka) if place.kafka else None,
        loop=loop,
        guards=guards,
        placement=state.placement,
        standby=state.standby,
        free_nodes=state.free_nodes,
        shares=state.shares,
        retention=retention,
        agent=agent.agent,
    )


def _request(script: Path, settings: Settings, sizing: Sizing, place: Place) -> Request:
    import os

    from rheostat.local.app_run import Request
    from rheostat.spark.user_settings import settings_of_user

    if not script.is_file():
        raise BadInput(f"there is no script {script}")
    return Request(
        script=script,
        settings=settings,
        shadow=sizing.shadow,
        master=place.master,
        local=place.local,
        given=settings_of_user(os.environ),
    )


def _run(request: Request, arguments: list[str], telling: Telling) -> int:
    from rheostat.cli.run_report import hand_out
    from rheostat.local.app_run import AppRun
    from rheostat.spark.launch import run_script

    with orderly_end(), AppRun(request) as around:
        if telling.out:
            hand_out(request, around.applications, None, False, telling.out)
        code = run_script(request.script, arguments, around)
    hand_out(request, around.applications, code, telling.as_json, telling.out)
    return code
