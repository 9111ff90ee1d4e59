"""The exports of an autoscaler besides its journal; a failure is one log line and no more."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rheostat.config import ExportOptions
from rheostat.journal.events import LOUD, EventStream
from rheostat.loop import FaultLog
from rheostat.machine.atomic_file import write_atomic
from rheostat.machine.missing_module import advice
from rheostat.model import Record
from rheostat.spark.handle import Handle

if TYPE_CHECKING:
    from rheostat.metrics.prometheus import MetricsRegistry

_log = logging.getLogger("rheostat")
_decisions = logging.getLogger("rheostat.decisions")
# For handlers of the user: the parent logger already reports the same decisions as text.
_decisions.propagate = False
_decisions.addHandler(logging.NullHandler())
WEBHOOK_VARIABLE = "RHEOSTAT_WEBHOOK"
Add = Callable[[Record], None]
Event = Mapping[str, Any]
Registry = Callable[[], "MetricsRegistry"]


def registry_of(handle: Handle) -> Registry:
    """Return a function that creates a handle's metrics once; it needs prometheus-client."""

    @cache
    def registry() -> MetricsRegistry:
        from rheostat.metrics.prometheus import MetricsRegistry

        metrics = MetricsRegistry(lambda: handle.start_event)
        handle.watch(metrics.add)
        return metrics

    return registry


def start_exports(handle: Handle, options: ExportOptions, registry: Registry) -> None:
    """Start the configured exports; each ends with the autoscaler."""
    url, path = options.webhook or os.environ.get(WEBHOOK_VARIABLE, ""), options.metrics_file
    stream, listeners = EventStream(), list[Callable[[Event], None]]()

    def pass_on(record: Record) -> None:
        if event := stream.next(record):
            for listener in listeners:
                listener(event)

    handle.watch(pass_on)
    _start("the decision log", listeners.append, lambda: _log_decision)
    if url:
        body = options.webhook_format
        _start("the webhook", listeners.append, lambda: _webhook(handle, url, body))
    if path:
        _start("the metrics file", handle.watch, lambda: _metrics_file(handle, path, registry()))
    if options.otel:
        _start("OpenTelemetry", handle.watch, lambda: _otel(handle))


def _start(name: str, subscribe: Callable[[Any], None], start: Callable[[], Any]) -> None:
    """Subscribe the result of ``start`` to records or events; its failures affect nothing else."""
    faults = FaultLog(f"{name} failed; scaling continues")

    def tolerant(item: Any) -> None:
        try:
            add(item)
        except Exception as fault:
            faults.warn(fault)

    try:
        add = start()
        subscribe(tolerant)
    except ModuleNotFoundError as missing:
        why = advice(missing.name or str(missing))
        _log.warning("rheostat: scaling continues without %s: %s", name, why)
    except Exception as fault:
        faults.warn(fault)


def _log_decision(event: Event) -> None:
    level = logging.INFO if event["event"] in LOUD else logging.DEBUG
    if _decisions.isEnabledFor(level):
        _decisions.log(level, "%s", json.dumps(event))


def _webhook(handle: Handle, url: str, body: str) -> Callable[[Event], None]:
    from rheostat.metrics.webhook import Webhook

    options = ExportOptions(webhook=url, webhook_format=body)  # checks the variable's URL
    webhook = Webhook(options.webhook, body)
    handle.at_end(webhook.close)

    def send(event: Event) -> None:
        if event["event"] in LOUD:
            webhook.send(event)

    return send


def _metrics_file(handle: Handle, name: str, metrics: MetricsRegistry) -> Add:
    path = Path(name)
    # A remaining file would make an ended job look like a hanging one.
    handle.at_end(lambda: path.unlink(missing_ok=True))
    return lambda _: write_atomic(path, metrics.text().decode())


def _otel(handle: Handle) -> Add:
    from rheostat.metrics.otel import OtelMetrics

    metrics = OtelMetrics(lambda: handle.start_event)
    handle.at_end(metrics.close)
    return metrics.add
