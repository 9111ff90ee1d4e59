# mypy: disallow-untyped-calls=False
"""The exports of a running autoscaler, none of which may affect the loop."""

import json
import logging
import sys
from typing import Any

import pytest

pytest.importorskip("prometheus_client", reason="comes with the extra serve")

from tests.unit.metrics.test_record_metrics import START, record

from rheostat.config import ExportOptions
from rheostat.errors import BadInput
from rheostat.settings import conf_arguments
from rheostat.spark.exports import registry_of, start_exports


class FakeHandle:
    """A handle, limited to what the exports use."""

    start_event = START

    def __init__(self):
        self.watchers: list[Any] = []
        self.endings: list[Any] = []
        self.watch, self.at_end = self.watchers.append, self.endings.append

    def tick(self, item):
        for watcher in self.watchers:
            watcher(item)

    def end(self):
        for ending in self.endings:
            ending()


def started(**options):
    handle = FakeHandle()
    start_exports(handle, ExportOptions(**options), registry_of(handle))  # type: ignore[arg-type]
    return handle


def test_the_metrics_file_is_replaced_at_every_tick_and_removed_at_the_end(tmp_path):
    path = tmp_path / "rheostat.prom"
    handle = started(metrics_file=str(path))
    handle.tick(record(0, 2, 2))
    handle.tick(record(5, 3, 3))
    text = path.read_text()
    assert 'rheostat_executors{application="app"} 3.0' in text
    assert 'rheostat_decisions_total{action="keep",application="app",reason="policy"} 2.0' in text
    assert [file.name for file in tmp_path.iterdir()] == ["rheostat.prom"]
    handle.end()
    assert not path.exists()


def test_an_unwritable_file_is_logged_once(tmp_path, caplog):
    handle = started(metrics_file=str(tmp_path / "no" / "folder.prom"))
    handle.tick(record(0))
    handle.tick(record(5))
    (line,) = caplog.messages
    assert line.startswith("rheostat: the metrics file failed; scaling continues")


@pytest.mark.parametrize(
    ("module", "options", "extra"),
    [
        ("opentelemetry", {"otel": True}, "OpenTelemetry"),
        ("tenacity", {"webhook": "http://localhost:1/"}, "the webhook"),
    ],
)
def test_a_missing_package_is_logged_once_and_other_exports_continue(
    monkeypatch, caplog, tmp_path, module, options, extra
):
    for name in [*sys.modules]:
        if name.startswith(("rheostat.metrics.otel", "rheostat.metrics.webhook", module)):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "m.prom"
    handle = started(metrics_file=str(path), **options)
    handle.tick(record(0))
    (line,) = caplog.messages
    assert line.startswith(f"rheostat: scaling continues without {extra}: the Python module")
    assert path.exists()


def test_decisions_are_json_lines_with_stable_keys(caplog):
    handle = started()
    with caplog.at_level(logging.DEBUG, "rheostat.decisions"):
        handle.tick(record(0, 2, 4))
        handle.tick(record(5, 4, 4, evidence={"binds": "sink"}))
        handle.tick(record(10, 4, 4, evidence={"binds": "sink"}))
        handle.tick(record(15, 4, None, phase="halted", detail="halted since now"))
        handle.tick(record(20, 4, 4, evidence={"binds": "sink"}))
    events = [json.loads(line) for line in caplog.messages]
    assert [item["event"] for item in events] == ["rescale", "keep", "halted", "resumed"]
    assert [line.levelname for line in caplog.records] == ["INFO", "DEBUG", "INFO", "INFO"]
    assert {tuple(item) for item in events} == {
        (
            "schema",
            "event",
            "time",
            "application",
            "executors",
            "before",
            "target",
            "wanted",
            "action",
            "reason_class",
            "reason",
            "phase",
            "detail",
        )
    }


def test_otel_has_the_same_values_as_prometheus():
    pytest.importorskip("opentelemetry.sdk", reason="comes with the extra otel")
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from rheostat.metrics.otel import OtelMetrics

    reader = InMemoryMetricReader()
    metrics = OtelMetrics(lambda: START, MeterProvider([reader]))
    for item in (record(0, 2, 4), record(12, 4, 4, batch_s=3.0)):
        metrics.add(item)
    data = reader.get_metrics_data()
    assert data
    shown: dict[str, list[Any]] = {
        metric.name: [*metric.data.data_points]
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert sum(point.value for point in shown["rheostat_decisions"]) == 2
    (executors,) = shown["rheostat_executors"]
    assert executors.value == 4
    (arrival,) = shown["rheostat_executor_arrival_seconds"]
    assert arrival.sum == 12
    assert arrival.explicit_bounds[0] == 0.25
    assert "rheostat_lag_rows" not in shown  # absent, not 0


@pytest.mark.parametrize("wrong", [{"webhook": "example.com"}, {"webhook_format": "irc"}])
def test_an_invalid_option_is_rejected(wrong):
    with pytest.raises(BadInput, match="webhook"):
        ExportOptions(**wrong)


def test_options_can_be_set_as_spark_settings():
    conf = {"spark.rheostat.export.otel": "true", "spark.rheostat.export.metrics_file": "/x.prom"}
    assert conf_arguments(conf) == {"export": ExportOptions(otel=True, metrics_file="/x.prom")}
