"""``rheostat halt`` and ``rheostat resume``: pause the decisions of a running application."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from typing import Annotated, Any

import typer

from rheostat.errors import BadInput, RheostatError

_ADDRESS = re.compile(r"(?:http://)?[^/\s]+:\d+/?")
_TIMEOUT_S = 10.0
Target = Annotated[
    str,
    typer.Argument(
        help=(
            "The checkpoint of one of its queries or its journal (a folder, hdfs://, s3a:// ...),"
            " or HOST:PORT of its agent."
        )
    ),
]


def halt(target: Target) -> None:
    """Halt the autoscaler of a running application: the queries keep running at their size.

    Within a tick it decides nothing any more. That holds for the next start with the same
    checkpoint or journal, too, until rheostat resume.

    Example: rheostat halt hdfs://namenode/checkpoints/orders
    """
    if _ADDRESS.fullmatch(target):
        _put(target, "halt")
        typer.echo(f"{target}: halted")
        return
    from rheostat.spark.journaling.kill_switches import pull

    typer.echo(f"{_file(target, pull)} exists: decisions are halted")


def resume(target: Target) -> None:
    """Resume the autoscaler of an application that was halted in the same way.

    Within a tick it decides again, without a restart, from what it had learnt before.

    Example: rheostat resume hdfs://namenode/checkpoints/orders
    """
    if _ADDRESS.fullmatch(target):
        still = _put(target, "resume")
        if still.get("halted"):
            raise RheostatError(f"{target}: still {still.get('detail')}; resume it there, too")
        typer.echo(f"{target}: resumed")
        return
    from rheostat.spark.journaling.kill_switches import take_away

    typer.echo(f"{_file(target, take_away)} is removed: decisions resume")


def _file(target: str, change: Callable[[str], str]) -> str:
    try:
        return change(target)
    except BadInput:
        raise
    except OSError as fault:
        raise RheostatError(f"{target}: {fault}") from None


def _put(address: str, route: str) -> Mapping[str, Any]:
    """Write to the agent and return its answer; raises BadInput without a right token, and
    RheostatError where it does not answer.
    """
    from rheostat.control.driver_report import TOKEN_VARIABLE

    token = os.environ.get(TOKEN_VARIABLE)
    if not token:
        raise BadInput(f"set {TOKEN_VARIABLE} to the token of the agent at {address}")
    connection = HTTPConnection(address.rstrip("/").rpartition("/")[2], timeout=_TIMEOUT_S)
    try:
        connection.request("PUT", f"/{route}", "{}", {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        read: Mapping[str, Any] = json.loads(answer.read())
    except (OSError, HTTPException, ValueError) as fault:
        raise RheostatError(f"{address} does not answer: {fault}") from None
    finally:
        connection.close()
    if answer.status != HTTPStatus.OK:
        raise BadInput(f"{address} refuses: {read.get('error', answer.status)}")
    return read
