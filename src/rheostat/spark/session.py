"""Starts an autoscaler in a session with complete settings; one at most per application."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from rheostat.control.journal_series import SeriesWriter
from rheostat.errors import BadInput
from rheostat.journal.known_journals import remember
from rheostat.machine.scratch_folder import state_folder
from rheostat.settings import Settings
from rheostat.spark import assembly, dstreams
from rheostat.spark.agency import serve_driver
from rheostat.spark.announcement import announcement, log_lines
from rheostat.spark.exports import registry_of, start_exports
from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import has_ended
from rheostat.spark.journaling.journals import after_death_text
from rheostat.spark.journaling.start_events import start_event
from rheostat.spark.sensing.capabilities import application_id

_log = logging.getLogger("rheostat")


@dataclass(frozen=True, slots=True)
class _Attachment:
    handle: Handle
    gives_way: bool


_attachments: dict[str, _Attachment] = {}
_lock = threading.Lock()


def take(
    application: str, begin: Callable[[], Handle], replaces: bool = False, gives_way: bool = False
) -> Handle:
    """Return the handle that ``begin`` makes and starts, registered as the autoscaler of
    ``application`` if it can scale.

    A running one is stopped first if the new one ``replaces`` it, or if it was registered with
    ``gives_way`` (``rheostat run`` around a script that calls ``attach``). Raises BadInput if
    neither holds, or if it does not stop.
    """
    with _lock:
        other = _attachments.get(application)
        if other is not None and other.handle.running:
            _end(other, replaces)
        handle = begin()
        if handle.capabilities.can_scale:
            _attachments[application] = _Attachment(handle, gives_way)
        return handle


def _end(other: _Attachment, replaces: bool) -> None:
    journal = other.handle.journal
    if not (replaces or other.gives_way):
        raise BadInput(
            f"this application is already sized by an autoscaler with the journal {journal}; stop"
            " that handle first, or: attach(..., replace=True)"
        )
    other.handle.stop()
    if other.handle.running:
        raise BadInput(
            f"the autoscaler with the journal {journal} does not end within 10 s; attach again when"
            " it has"
        )
    if other.gives_way:
        _log.warning(
            "rheostat: the script attaches an autoscaler itself; its settings replace those of"
            " rheostat run"
        )


def observe(spark: Any, settings: Settings) -> Handle:
    """Observe an application and advise; see ``rheostat.shadow``."""
    _check(spark, settings)
    is_streaming = dstreams.is_streaming_context(spark)
    build = dstreams.observing_handle if is_streaming else assembly.observing_handle
    return _begin(spark, build(spark, settings), settings)


def autoscale(spark: Any, settings: Settings, gives_way: bool = False) -> Handle:
    """Autoscale an application; see ``rheostat.attach``.

    With ``gives_way`` a later ``attach`` replaces this autoscaler instead of being refused.
    """
    _check(spark, settings)
    is_streaming = dstreams.is_streaming_context(spark)
    build = dstreams.scaling_handle if is_streaming else assembly.scaling_handle
    return take(
        application_id(spark),
        lambda: _begin(spark, build(spark, settings), settings, gives_way),
        settings.replace,
        gives_way,
    )


def _check(spark: Any, settings: Settings) -> None:
    """Raise BadInput unless ``spark`` is a running session that allows the settings."""
    if dstreams.is_streaming_context(spark):
        if settings.releases:
            raise BadInput(
                "min executors is 0, but a StreamingContext runs continuously: use at least 1"
            )
        dstreams.check(spark)
        return
    if isinstance(spark, type) or "streams" not in dir(spark):
        raise BadInput(f"a SparkSession is needed, but it is {spark!r:.80}")
    if has_ended(spark):
        raise BadInput("this SparkSession has been stopped; attach to one that runs")


def _begin(spark: Any, handle: Handle, settings: Settings, launched: bool = False) -> Handle:
    """Start an autoscaler, and announce it; if that fails, everything is closed."""
    with ExitStack() as on_failure:
        on_failure.callback(handle.discard)
        registry = registry_of(handle)
        address = serve_driver(spark, handle, settings, registry)
        application, able = application_id(spark), handle.capabilities
        handle.keep_start(start_event(settings, application, able, address, launched))
        with suppress(OSError, RuntimeError):  # there is no home folder
            remember(state_folder(), handle.journal)
        minutes = SeriesWriter(lambda: handle.journal)
        handle.watch(minutes.add)
        handle.at_end(minutes.close)
        lag_known = dstreams.is_streaming_context(spark)
        where = (handle.journal, handle.stop_file)
        after = after_death_text(spark, settings, handle.journal)
        log_lines(
            announcement(settings, able, *where, lag_known, after, handle.halts_by_checkpoint)
        )
        start_exports(handle, settings.export, registry)
        handle.start(settings.loop.interval_s)
        on_failure.pop_all()
    return handle
