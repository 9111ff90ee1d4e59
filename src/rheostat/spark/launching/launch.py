"""Runs an unchanged PySpark script in this process, with callbacks for its applications."""

from __future__ import annotations

import logging
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from rheostat.errors import BadInput
from rheostat.spark.launching.session_hook import SessionCallbacks, SessionHook

_log = logging.getLogger("rheostat")


def run_script(script: Path, arguments: Sequence[str], callbacks: SessionCallbacks) -> int:
    """Run ``script`` as its own main program and return its exit code.

    ``callbacks`` provide settings before each of its applications starts, and receive its first
    session; the observer that they return is stopped before a session that the script leaves open.
    Raises BadInput if the script does not exist, and the error of ``callbacks.settings`` unless the
    script catches it.
    """
    if not script.is_file():
        raise BadInput(f"there is no script {script}")
    hook = SessionHook(callbacks)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        with hook.installed():
            return _ended(script, hook)
    finally:
        _stop_session()
        if not hook.applications and not hook.fault:
            _log.warning("rheostat: the script created no session, so nothing was observed")


def _ended(script: Path, hook: SessionHook) -> int:
    """Run the script to its end and return its exit code as Python itself would."""
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as ended:
        return _exit_code(ended.code)
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        if error is hook.fault:
            raise
        lines = traceback.format_exception(
            type(error), error, _of_script(error.__traceback__, script)
        )
        sys.stderr.write("".join(lines))  # in one piece: the JVM writes to the same stream
        return 1
    return 0


def _of_script(trace: TracebackType | None, script: Path) -> TracebackType | None:
    """Return the traceback from the script's first line on, without the frames that run
    the script.
    """
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename != str(script):
        inner = inner.tb_next
    return inner or trace


def _stop_session() -> None:
    """Stop a session that the script left open, so that its executors end before their cluster."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()


def _exit_code(code: object) -> int:
    """Return the exit code of ``sys.exit(code)`` as Python itself would: a text is printed and
    results in 1.
    """
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)  # noqa: T201  (the script's own message)
    return 1
