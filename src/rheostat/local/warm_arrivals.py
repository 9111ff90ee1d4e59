"""How executors of a cluster of ours start: warm, where this computer can train a class archive."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.local.executor_options import EXECUTOR_FLAGS
from rheostat.local.spark_home import find_spark_home
from rheostat.spark.warming.warm_start import WarmStart, prepare

OPTIONS_FILE = "executor.args"


def arrivals(
    application: str, folder: Path, jars: Sequence[Path] = ()
) -> tuple[WarmStart | None, str | None]:
    """Return how the executors of an application start, or None and one line that says why they
    start cold.

    ``application`` names what they load (``of_script`` for a script); ``folder`` lives
    as long as they do (``Cluster.folder``); ``jars`` are on their class path. Hand ``flags`` to
    ``session_options`` and add ``settings`` to it.
    """
    home = find_spark_home()
    try:
        return (
            prepare(
                application,
                home.folder / "jars",
                folder / OPTIONS_FILE,
                jars=jars,
                flags=EXECUTOR_FLAGS,
                jdk=home.jdk,
            ),
            None,
        )
    except (RheostatError, OSError) as fault:
        return None, f"executors start cold: {fault}"
