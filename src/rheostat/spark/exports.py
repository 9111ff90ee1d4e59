"""What a running autoscaler exports besides its journal: metrics, log lines and messages. Nothing
of it is needed for scaling, and a failure is one log line.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rheostat.config import ExportOptions
from rheostat.fault_log import FaultLog
from rheostat.journal.events import LOUD, EventStream
from rheostat.machine.atomic_file import write_atomic
from rheostat.machine.missing_module import advice
from rheostat.model import Record
from rheostat.spark.handle import Handle

if TYPE_CHECKING:
    from rheostat.metrics.registry import MetricsRegistry

_log = logging.getLogger("rheostat")
_decisions = logging.getLogger("rheostat.decisions")
# For a handler of the user's: the same decisions are announced in words by the logger above it.
_decisions.propagate = False
_decisions.addHandler(logging.NullHandler())
WEBHOOK_VARIABLE = "RHEOSTAT_WEBHOOK"
Add = Callable[[Record], None]
Registry = Callable[[], "MetricsRegistry"]


def registry_of(handle: Handle) -> Registry:
    """Return what creates the metrics of a handle at its first call; needs prometheus-client."""

    @cache
    def registry() -> MetricsRegistry:
        from rheostat.metrics.registry import MetricsRegistry

        metrics = MetricsRegistry(lambda: handle.start_event)
        handle.watch(metrics.add)
        return metrics

    return registry


def start_exports(handle: Handle, options: ExportOptions, registry: Registry) -> None:
    """Start what is configured; each part ends with the autoscaler."""
    url, path = options.webhook or os.environ.get(WEBHOOK_VARIABLE, ""), options.metrics_file
    parts: tuple[tuple[str, object, Callable[[], Add]], ...] = (
        ("the decision log", True, lambda: _log_decisions(EventStream())),
        ("the webhook", url, lambda: _webhook(handle, url, options.webhook_format)),
        ("the metrics file", path, lambda: _metrics_file(handle, Path(path), registry())),
        ("OpenTelemetry", options.otel, lambda: _otel(handle)),
    )
    for name, wanted, start in parts:
        if wanted:
            _start(handle, name, start)


def _start(handle: Handle, name: str, start: Callable[[], Add]) -> None:
    faults = FaultLog(f"{name} failed; scaling continues")

    def tolerant(record: Record) -> None:
        try:
            add(record)
        except Exception as fault:
            faults.say(fault)

    try:
        add = start()
        handle.watch(tolerant)
    except ModuleNotFoundError as missing:
        why = advice(missing.name or str(missing))
        _log.warning("rheostat: scaling continues without %s: %s", name, why)
    except Exception as fault:
        faults.say(fault)


def _log_decisions(events: EventStream) -> Add:
    def add(record: Record) -> None:
        if event := events.next(record):
            level = logging.INFO if event["event"] in LOUD else logging.DEBUG
            if _decisions.isEnabledFor(level):
                _decisions.log(level, "%s", json.dumps(event))

    return add


def _webhook(handle: Handle, url: str, body: str) -> Add:
    from rheostat.metrics.webhook import Webhook

    options = ExportOptions(webhook=url, webhook_format=body)  # the environment is not checked yet
    webhook, events = Webhook(options.webhook, body), EventStream()
    handle.at_end(webhook.close)

    def add(record: Record) -> None:
        event = events.next(record)
        if event and event["event"] in LOUD:
            webhook.send(event)

    return add


def _metrics_file(handle: Handle, path: Path, metrics: MetricsRegistry) -> Add:
    # A file that stays would show a job that has ended as one that hangs.
    handle.at_end(lambda: path.unlink(missing_ok=True))
    return lambda _: write_atomic(path, metrics.text().decode())


def _otel(handle: Handle) -> Add:
    from rheostat.metrics.otel import OtelMetrics

    metrics = OtelMetrics(lambda: handle.start_event)
    handle.at_end(metrics.close)
    return metrics.add
