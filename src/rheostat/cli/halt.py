"""``rheostat halt`` and ``rheostat resume``: pause the decisions of a running application."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from urllib.error import HTTPError

import typer

from rheostat.control.driver_call import ENDPOINT, call_driver
from rheostat.control.driver_report import TOKEN_VARIABLE
from rheostat.errors import BadInput, RheostatError

Target = Annotated[
    str,
    typer.Argument(
        help=(
            "The checkpoint of one of its queries or its journal (a folder, hdfs://, s3a:// ...),"
            " or HOST:PORT of its control API (https://HOST:PORT with TLS)."
        )
    ),
]


def halt(target: Target) -> None:
    """Halt the autoscaler of a running application: the queries keep running at their size.

    It stops deciding within one tick, on an object store within 75 s, and stays halted at the next
    start with the same checkpoint or journal, until rheostat resume.

    Example: rheostat halt hdfs://namenode/checkpoints/orders
    """
    if ENDPOINT.fullmatch(target):
        _put(target, "halt")
        typer.echo(f"{target}: halted")
        return
    from rheostat.spark.journaling.kill_switches import pull

    typer.echo(f"{_file(target, pull)} exists: decisions are halted")


def resume(target: Target) -> None:
    """Resume the autoscaler of an application that was halted in the same way.

    It decides again within one tick, on an object store within 75 s, without a restart and with
    its previous memory.

    Example: rheostat resume hdfs://namenode/checkpoints/orders
    """
    if ENDPOINT.fullmatch(target):
        still = _put(target, "resume")
        if still.get("halted"):
            raise RheostatError(f"{target}: still {still.get('detail')}; resume it there, too")
        typer.echo(f"{target}: resumed")
        return
    from rheostat.spark.journaling.kill_switches import remove

    typer.echo(f"{_file(target, remove)} is removed: decisions resume")


def _file(target: str, change: Callable[[str], str]) -> str:
    try:
        return change(target)
    except OSError as fault:
        raise RheostatError(f"{target}: {fault}") from None


def _put(address: str, route: str) -> Mapping[str, Any]:
    """Write to the driver; raises BadInput without an accepted token, RheostatError if silent."""
    token = os.environ.get(TOKEN_VARIABLE)
    if not token:
        raise BadInput(f"set {TOKEN_VARIABLE} to the token of the control API at {address}")
    try:
        answer: Mapping[str, Any] = call_driver(address, route, token, "PUT")
    except HTTPError as refusal:
        raise BadInput(f"{address} refuses: {refusal.msg}") from None
    except (OSError, ValueError) as fault:
        raise RheostatError(f"{address} does not answer: {fault}") from None
    return answer
