"""Runs an unchanged PySpark script in this process, with static options and a hook on its
session.
"""

from __future__ import annotations

import logging
import os
import runpy
import shlex
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from rheostat.errors import BadInput, RheostatError

_log = logging.getLogger("rheostat")
_SUBMIT = "PYSPARK_SUBMIT_ARGS"


class Watching(Protocol):
    """What watches a session, until it is told to stop."""

    def stop(self) -> None:
        """Stop; the session goes on."""
        ...


OnSession = Callable[[Any], Watching | None]


def run_script(
    script: Path, arguments: Sequence[str], options: Mapping[str, str], on_session: OnSession
) -> int:
    """Run ``script`` as its own main program and return its exit code.

    ``options`` are Spark settings for the start of its JVM; those that the script sets itself win.
    ``on_session`` is called once for the first session that the script makes; whatever it raises is
    logged and the script goes on. What it returns is stopped before a session that the script
    leaves open. Raises BadInput if the script is not there.
    """
    if not script.is_file():
        raise BadInput(f"there is no script {script}")
    os.environ[_SUBMIT] = submit_arguments(options, os.environ.get(_SUBMIT))
    seen = _hook(on_session)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        return _exit_code(ended.code)
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        lines = traceback.format_exception(
            type(error), error, _of_script(error.__traceback__, script)
        )
        sys.stderr.write("".join(lines))  # in one piece: the JVM writes to the same stream
        return 1
    finally:
        for watching in seen:
            if watching is not None:
                watching.stop()
        _stop_session()
        if not seen:
            _log.warning(
                "rheostat: the script made no session with SparkSession.builder, so nothing was"
                " watched"
            )
    return 0


def _of_script(trace: TracebackType | None, script: Path) -> TracebackType | None:
    """Return the traceback from the script's first line on: the frames that run it are not its
    own.
    """
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename != str(script):
        inner = inner.tb_next
    return inner or trace


def master_of_environment() -> str | None:
    """Return the master that PYSPARK_SUBMIT_ARGS or the defaults file of SPARK_CONF_DIR or
    SPARK_HOME names; None if none does.
    """
    words = shlex.split(os.environ.get(_SUBMIT, ""))
    for word, value in pairwise(words):
        if word == "--master":
            return value
        if word == "--conf" and value.startswith("spark.master="):
            return value.partition("=")[2]
    folder = os.environ.get("SPARK_CONF_DIR")
    defaults = (
        Path(folder) if folder else Path(os.environ.get("SPARK_HOME", "")) / "conf"
    ) / "spark-defaults.conf"
    lines = defaults.read_text(encoding="utf-8").splitlines() if defaults.is_file() else []
    found = [
        line.replace("=", " ", 1).split()
        for line in lines
        if line.strip().startswith("spark.master")
    ]
    return next(
        (words[1] for words in found if len(words) > 1 and words[0] == "spark.master"), None
    )


def submit_arguments(options: Mapping[str, str], given: str | None = None) -> str:
    """Return what PySpark hands to ``spark-submit``: our options first, so that those of the user's
    environment win.
    """
    words = [
        word for name, value in sorted(options.items()) for word in ("--conf", f"{name}={value}")
    ]
    return f"{shlex.join(words)} {given or 'pyspark-shell'}".strip()


def _stop_session() -> None:
    """End a session that the script left open, so that its executors are gone before their cluster
    is.
    """
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()


def _hook(on_session: OnSession) -> list[Watching | None]:
    """Call ``on_session`` with the first session of ``SparkSession.builder.getOrCreate()``; the
    returned list then holds its result.
    """
    from pyspark.sql import SparkSession

    original = SparkSession.Builder.getOrCreate
    seen: list[Watching | None] = []

    def get_or_create(builder: Any) -> Any:
        session = original(builder)
        if not seen:
            seen.append(None)  # a session that is made meanwhile is not watched
            seen[0] = _told(on_session, session)
        return session

    SparkSession.Builder.getOrCreate = get_or_create
    return seen


def _told(on_session: OnSession, session: Any) -> Watching | None:
    try:
        return on_session(session)
    except RheostatError as fault:
        _log.warning("rheostat: not attached, the job runs on as it is: %s", fault)
    except Exception as fault:
        _log.warning(
            "rheostat: not attached, the job runs on as it is: %s: %s", type(fault).__name__, fault
        )
        _log.debug("rheostat: where it failed", exc_info=True)
    return None


def _exit_code(code: object) -> int:
    """Return the exit code of ``sys.exit(code)`` as Python itself would: a text is printed and
    means 1.
    """
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)  # noqa: T201  (the script's own message)
    return 1
