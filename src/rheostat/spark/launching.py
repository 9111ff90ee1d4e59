"""Runs an unchanged PySpark script, with callbacks for its applications and first sessions."""

from __future__ import annotations

import inspect
import logging
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from rheostat.clusters.registry import why_refused
from rheostat.errors import BadInput, RheostatError
from rheostat.loop import FaultLog
from rheostat.spark.sensing.capabilities import application_id

_log = logging.getLogger("rheostat")


class Watching(Protocol):
    """An observer of an application."""

    def stop(self) -> None:
        """Stop; the application continues."""


class SessionCallbacks(Protocol):
    """Callbacks for the applications of a script."""

    def settings(self, own: Mapping[str, str]) -> Mapping[str, str]:
        """Return the settings to add to an application that is about to start, of which the script
        has set ``own`` itself; raises RheostatError if it cannot start at all.
        """

    def session(self, spark: Any) -> Watching | None:
        """Take the first session of an application, and return its observer."""


class SessionHook:
    """Passes a script's applications to the ``callbacks``, one after the other.

    An exception of theirs at a session is logged, and the script continues. ``fault`` is the error
    that they raised before an application could start.
    """

    def __init__(self, callbacks: SessionCallbacks) -> None:
        self.applications: list[str] = []
        self.fault: RheostatError | None = None
        self._callbacks = callbacks
        self._made: dict[str, str] = {}
        self._watching: Watching | None = None
        self._building = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Keep the hook installed while the context lasts; then stop the current observer."""
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        context, session = SparkContext.__init__, SparkSession.__init__
        builder = SparkSession.Builder.getOrCreate
        SparkContext.__init__ = self._context(context)
        SparkSession.__init__ = self._session(session)
        SparkSession.Builder.getOrCreate = self._builder(builder)
        try:
            yield
        finally:
            SparkContext.__init__ = context
            SparkSession.__init__ = session
            SparkSession.Builder.getOrCreate = builder
            self._stop()

    def _context(self, original: Callable[..., None]) -> Callable[..., None]:
        """Wrap the constructor to complete the settings of contexts that start an application."""
        signature = inspect.signature(original)

        @wraps(original)
        def begin(*positional: Any, **named: Any) -> None:
            bound = signature.bind(*positional, **named)
            if not bound.arguments.get("gateway") and not bound.arguments.get("jsc"):
                master = bound.arguments.get("master")
                bound.arguments["conf"] = self._completed(bound.arguments.get("conf"), master)
            with _explained():
                original(*bound.args, **bound.kwargs)

        return begin

    def _session(self, original: Callable[..., None]) -> Callable[..., None]:
        """Wrap the constructor to observe sessions that are created without the builder."""

        @wraps(original)
        def begin(session: Any, *positional: Any, **named: Any) -> None:
            original(session, *positional, **named)
            if not self._building:
                self._watch_session(session)

        return begin

    def _builder(self, original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Wrap the builder to observe a session after the builder has configured it."""

        @wraps(original)
        def get_or_create(builder: Any) -> Any:
            within, self._building = self._building, True
            try:
                session = original(builder)
            finally:
                self._building = within
            self._watch_session(session)
            return session

        return get_or_create

    def _completed(self, conf: Any, master: str | None) -> Any:
        """Return the script's settings with those of Rheostat.

        A JVM keeps the settings of an earlier application; those that Rheostat added then are not
        the script's own.
        """
        from pyspark import SparkConf

        completed = SparkConf() if conf is None else SparkConf(loadDefaults=False)
        for name, value in conf.getAll() if conf else ():
            completed.set(name, value)
        own = {name: value for name, value in completed.getAll() if self._made.get(name) != value}
        for name, value in self._settings({**own, **({"spark.master": master} if master else {})}):
            completed.set(name, value)
        return completed

    def _settings(self, own: Mapping[str, str]) -> list[tuple[str, str]]:
        try:
            made = dict(self._callbacks.settings(own))
        except RheostatError as fault:
            self.fault = fault
            raise
        except Exception as fault:
            FaultLog("no setting was added, the job runs unchanged").warn(fault)
            return []
        self._made = made
        return list(made.items())

    def _watch_session(self, session: Any) -> None:
        application = application_id(session)
        if application in self.applications:
            return
        self.applications.append(application)  # others created meanwhile are not observed
        self._stop()
        try:
            self._watching = self._callbacks.session(session)
        except RheostatError as fault:
            _log.warning("rheostat: not attached, the job keeps running: %s", fault)
        except Exception as fault:
            FaultLog("not attached, the job keeps running").warn(fault)

    def _stop(self) -> None:
        """Stop the observer of an application that has ended."""
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.stop()


@contextmanager
def _explained() -> Iterator[None]:
    """Log one line why a cluster manager rejects an application; the error itself is re-raised."""
    try:
        yield
    except Exception as fault:
        why = why_refused(str(fault))
        if why:
            _log.warning("rheostat: %s", why)
        raise


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
    """Return the traceback from the script's first line on."""
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
    """Return the exit code of ``sys.exit(code)`` as Python does: a text is printed and is 1."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)  # noqa: T201  (the script's own message)
    return 1
