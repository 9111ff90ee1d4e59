"""A repartition with a Spark session of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from rheostat.repartition.checkpoint import Checkpoint
from rheostat.repartition.course import Told
from rheostat.repartition.own_journal import Story
from rheostat.repartition.own_session import own_session
from rheostat.repartition.rescale import rescale
from rheostat.repartition.running_query import require_stopped
from rheostat.repartition.spark_rewriter import SparkRewriter
from rheostat.repartition.state_engine import Rewriter


def rescale_here(
    location: str,
    partitions: int,
    told: Told,
    check_stopped: Callable[[Path], None] = require_stopped,
) -> Story:
    """Do ``rescale`` with a session on this computer, which is started after everything that can be
    refused was; raises what ``rescale`` raises.
    """
    with ExitStack() as session:

        def engine(_: Checkpoint) -> Rewriter:
            return SparkRewriter(session.enter_context(own_session()))

        return rescale(location, partitions, engine, told=told, check_stopped=check_stopped)
