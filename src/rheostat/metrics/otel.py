"""The metrics of a job through OpenTelemetry's SDK, under the same names."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opentelemetry import metrics
from opentelemetry.metrics import CallbackOptions, Counter, Histogram, Observation
from opentelemetry.sdk.metrics import MeterProvider

from rheostat.journal.starts import Start
from rheostat.metrics.catalog import FAMILIES
from rheostat.metrics.record_metrics import RecordMetrics, Sample
from rheostat.model import Record


class OtelMetrics:
    """Passes the metrics of one job to a meter provider: by default the application's, otherwise
    one that exports by OTLP as the environment variables ``OTEL_*`` configure it.
    """

    def __init__(
        self, start: Callable[[], Start | None], provider: MeterProvider | None = None
    ) -> None:
        self._start, self._records = start, RecordMetrics()
        self._gauges: tuple[Sample, ...] = ()
        present = provider or metrics.get_meter_provider()
        self._own = None if isinstance(present, MeterProvider) else _otlp_provider()
        meter = (self._own or present).get_meter("rheostat")
        self._instruments: dict[str, Counter | Histogram] = {}
        for name, family in FAMILIES.items():
            unit = next((u for end, u in _UNITS.items() if name.endswith(end)), "")
            if family.kind == "counter":
                # The Prometheus exporter appends _total to counters.
                short = name.removesuffix("_total")
                self._instruments[name] = meter.create_counter(short, unit, family.help)
            elif family.kind == "histogram":
                self._instruments[name] = meter.create_histogram(
                    name, unit, family.help, explicit_bucket_boundaries_advisory=family.buckets
                )
            else:
                meter.create_observable_gauge(name, [self._callback(name)], unit, family.help)

    def _callback(self, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def values(_: CallbackOptions) -> Iterable[Observation]:
            return [Observation(s.value, dict(s.labels)) for s in self._gauges if s.name == name]

        return values

    def add(self, record: Record) -> None:
        """Add the record of a tick."""
        samples = self._records.samples(record, self._start())
        for sample in samples:
            instrument = self._instruments.get(sample.name)
            if isinstance(instrument, Counter):
                instrument.add(sample.value, dict(sample.labels))
            elif instrument:
                instrument.record(sample.value, dict(sample.labels))
        self._gauges = tuple(s for s in samples if s.name not in self._instruments)

    def close(self) -> None:
        """Export the remaining values, if the provider is our own."""
        if self._own:
            self._own.shutdown(timeout_millis=_END_MS)


_END_MS = 2000.0
_UNITS = {"_seconds": "s", "_bytes": "By", "_seconds_total": "s"}


def _otlp_provider() -> MeterProvider:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    return MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())])
