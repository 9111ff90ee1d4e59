"""The metrics of a job in the text format of Prometheus: for ``/metrics`` and for a text file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import Metric

from rheostat.journal.starts import Start
from rheostat.metrics.catalog import FAMILIES, GAUGES
from rheostat.metrics.record_metrics import RecordMetrics, Sample
from rheostat.model import Record

CONTENT_TYPE = CONTENT_TYPE_LATEST
_T = TypeVar("_T")


class MetricsRegistry:
    """Keeps the metrics of one job; ``start`` returns the settings in force.

    The loop's thread calls ``add``; any thread may call ``text``.
    """

    def __init__(self, start: Callable[[], Start | None] = lambda: None) -> None:
        self.records = RecordMetrics()
        self.gauges: dict[str, float] = {}
        """The gauges without labels of their own that currently have a value."""
        self._start = start
        self._newest: Record | None = None
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        self._counters = {name: self._new(Counter, name) for name in _names("counter")}
        self._gauges = {name: self._new(Gauge, name) for name in _names("gauge")}
        self._histograms = {
            name: self._new(Histogram, name, buckets=FAMILIES[name].buckets)
            for name in _names("histogram")
        }

    def _new(self, kind: Callable[..., _T], name: str, **more: Any) -> _T:
        labels = ("application", *FAMILIES[name].labels)
        return kind(name, FAMILIES[name].help, labels, registry=self._registry, **more)

    def add(self, record: Record) -> None:
        """Add the record of a tick."""
        if record is self._newest:  # an exporter and the control API may both observe the loop
            return
        self._newest = record
        samples = self.records.samples(record, self._start())
        with self._lock:
            # An absent signal has no sample, so the gauges of the last tick are cleared first.
            for gauge in self._gauges.values():
                gauge.clear()
            for sample in samples:
                self._put(sample)
            self.gauges = {s.name: s.value for s in samples if s.name in GAUGES}

    def _put(self, sample: Sample) -> None:
        name, labels = sample.name, sample.labels
        if name in self._gauges:
            self._gauges[name].labels(**labels).set(sample.value)
        elif name in self._counters:
            self._counters[name].labels(**labels).inc(sample.value)
        else:
            self._histograms[name].labels(**labels).observe(sample.value)

    def text(self) -> bytes:
        """Return all metrics in the text format; a metric without a value has no sample."""
        with self._lock:
            return generate_latest(self)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics without their creation times, which the text format shows as gauges."""
        for metric in self._registry.collect():
            metric.samples = [s for s in metric.samples if not s.name.endswith("_created")]
            if metric.samples:
                yield metric


def _names(kind: str) -> list[str]:
    return [name for name, family in FAMILIES.items() if family.kind == kind]
