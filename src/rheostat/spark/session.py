"""Starts an autoscaler in a session with complete settings."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from rheostat.control.series_file import SeriesWriter
from rheostat.errors import BadInput
from rheostat.settings import Settings
from rheostat.spark import assembly, dstreams
from rheostat.spark.agency import serve_driver
from rheostat.spark.announcement import announcement, log_lines
from rheostat.spark.attachment import take
from rheostat.spark.exports import registry_of, start_exports
from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import has_ended
from rheostat.spark.journaling.journals import after_death_text
from rheostat.spark.journaling.start_events import remember_journal, start_event
from rheostat.spark.sensing.capabilities.capabilities import application_id


def watch(spark: Any, settings: Settings) -> Handle:
    """Observe an application and advise; see ``rheostat.shadow``."""
    _check(spark)
    return _begin(spark, _builder_of(spark).watcher(spark, settings), settings)


def size(spark: Any, settings: Settings, gives_way: bool = False) -> Handle:
    """Autoscale an application; see ``rheostat.attach``.

    With ``gives_way`` a later ``attach`` replaces this autoscaler instead of being refused.
    """
    _check(spark)
    return take(
        application_id(spark),
        lambda: _begin(spark, _builder_of(spark).sizer(spark, settings), settings, gives_way),
        settings.replace,
        gives_way,
    )


def _builder_of(spark: Any) -> ModuleType:
    """Return the module that builds the autoscaler of a session or of a StreamingContext."""
    return dstreams if dstreams.is_streaming_context(spark) else assembly


def _check(spark: Any) -> None:
    """Raise BadInput unless ``spark`` is a running session."""
    if dstreams.is_streaming_context(spark):
        dstreams.check(spark)
        return
    if isinstance(spark, type) or "streams" not in dir(spark):
        raise BadInput(f"a SparkSession is needed, but it is {spark!r:.80}")
    if has_ended(spark):
        raise BadInput("this SparkSession has been stopped; attach to one that runs")


def _begin(spark: Any, handle: Handle, settings: Settings, launched: bool = False) -> Handle:
    """Start an autoscaler, and announce it; if that fails, everything is closed."""
    try:
        return _started(spark, handle, settings, launched)
    except BaseException:
        handle.discard()
        raise


def _started(spark: Any, handle: Handle, settings: Settings, launched: bool) -> Handle:
    registry = registry_of(handle)
    address = serve_driver(spark, handle, settings, registry)
    application, able = application_id(spark), handle.capabilities
    handle.keep_start(start_event(settings, application, able, address, launched))
    remember_journal(handle.journal)
    minutes = SeriesWriter(lambda: handle.journal)
    handle.watch(minutes.add)
    handle.at_end(minutes.close)
    lag_known = dstreams.is_streaming_context(spark)
    where = (handle.journal, handle.stop_file)
    after = after_death_text(spark, settings, handle.journal)
    halts = handle.halts_by_checkpoint
    log_lines(announcement(settings, handle.capabilities, *where, lag_known, after, halts))
    start_exports(handle, settings.export, registry)
    handle.start(settings.loop.interval_s)
    return handle
