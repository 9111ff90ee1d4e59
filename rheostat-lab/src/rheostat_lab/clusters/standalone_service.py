"""A Spark Standalone cluster that outlives the command that started it: ``rheostat cluster up``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.local.spark_home import SparkHome, find_spark_home
from rheostat.local.standalone_cluster import (
    DEFAULT_MEMORY_MIB,
    check_cores,
    listens,
    master_command,
    registered,
    url_of,
    wait_for,
    worker_command,
)
from rheostat.machine.free_ports import free_port
from rheostat.machine.scratch_folder import state_folder
from rheostat_lab.services import own_folder, service
from rheostat_lab.services.claimed_ports import claim_port, given_or_free

NAME = "cluster"
WORKER_NAME = "cluster-worker"
USUAL_PORT = 7077


def up(
    cores: int = 8,
    memory_mib: int = DEFAULT_MEMORY_MIB,
    port: int | None = None,
    ui_port: int | None = None,
) -> str:
    """Start a cluster that outlives this process and return its URL; ``down`` ends it.

    ``port`` defaults to 7077, or to a free port if that is taken. Raises like ``Cluster``, and
    BadInput if one is running.
    """
    check_cores(cores)
    service.require_none(NAME)
    service.end(WORKER_NAME)
    home = find_spark_home()
    port = _usual_or_free() if port is None else claim_port(port, "the Spark master")
    ui_port = given_or_free(ui_port, "the Spark master's web page")
    folder = (state_folder() / NAME).resolve()
    own_folder.remove_marked(folder)
    own_folder.claim(folder, "the cluster's folder")
    commands = {
        NAME: master_command(home, port, ui_port),
        WORKER_NAME: worker_command(home, port, cores, memory_mib, folder),
    }
    try:
        _start_service(NAME, commands[NAME], url_of(port), home, folder, lambda: listens(ui_port))
        _start_service(
            WORKER_NAME,
            commands[WORKER_NAME],
            url_of(port),
            home,
            folder,
            lambda: registered(ui_port),
        )
    except BaseException:
        down()
        raise
    return url_of(port)


def down() -> str | None:
    """End the cluster that ``up`` started with its executors, remove its files, and return its URL;
    None if none was running.
    """
    ended = [service.end(WORKER_NAME), service.end(NAME)]
    own_folder.remove_marked(state_folder() / NAME)
    return next((stopped.url for stopped in ended if stopped), None)


def _start_service(
    name: str,
    command: list[str],
    url: str,
    home: SparkHome,
    folder: Path,
    ready: Callable[[], bool],
) -> None:
    log = folder / f"{name}.log"
    service.start(
        name, command, url=url, folder=folder, log=log, environment=home.environment(folder)
    )
    wait_for(name, ready, lambda: service.find(name) is not None, log)


def _usual_or_free() -> int:
    try:
        return claim_port(USUAL_PORT, "the Spark master")
    except BadInput:
        return free_port()
