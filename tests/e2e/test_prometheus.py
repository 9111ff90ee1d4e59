# mypy: disallow-untyped-calls=False
"""A real Prometheus scrapes the metrics of a job and evaluates every expression that we ship."""

import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.e2e.prometheus_here import Query, firing, needs_prometheus, prometheus, wait_for
from tests.unit.metrics.test_dashboards_and_alerts import dashboard_expressions
from tests.unit.metrics.test_record_metrics import START, record

pytest.importorskip("prometheus_client", reason="comes with the extra serve")

from rheostat.metrics.prometheus import CONTENT_TYPE, MetricsRegistry
from rheostat.model import InFlight

pytestmark = [pytest.mark.e2e, needs_prometheus]
SIGNALS: dict[str, Any] = {
    "input_rows_per_s": 100.0,
    "processed_rows_per_s": 90.0,
    "output_rows_per_s": 90.0,
    "latency_s": 20.0,
    "lag_rows": 500.0,
    "lag_s": 12.0,
    "lag_mean_s": 6.0,
    "trigger_s": 1.0,
    "busy": 0.9,
    "cpu": 0.5,
    "state_bytes": 1000,
    "broker_up": True,
    "in_flight": InFlight(elapsed_s=2.0),
}
EVIDENCE = {"binds": "sink", "forecast_s": 1.0, "forecast_rows_per_s_p50": 90.0}


class Job:
    """A late job, limited by its sink, with one executor too few; it ticks at each scrape."""

    def __init__(self) -> None:
        self.metrics, self.ticks = MetricsRegistry(lambda: START), 0
        job = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = job.tick()
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tick(self) -> bytes:
        self.ticks += 1
        executors = min(1 + self.ticks // 2, 3)
        shown = {**SIGNALS, "batch_s": 1.0 + self.ticks / 10}
        target = 2 if self.ticks <= 3 else 4  # the first 2 executors register, but only 3 of 4
        size = (executors, 2, 2, 2, 4)[min(self.ticks, 5) - 1]
        tick = record(time.time(), executors, target, size, evidence=EVIDENCE, **shown)
        self.metrics.add(tick)
        if self.ticks == 3:
            failed = record(time.time(), target=None, phase="failed", detail="KeyError: 'x'")
            self.metrics.add(failed)
        return self.metrics.text()


@pytest.fixture(scope="module")
def query(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """Start a job and a Prometheus that scrapes it; yield a query."""
    job = Job()
    target = f"127.0.0.1:{job.server.server_port}"
    with prometheus(tmp_path_factory.mktemp("prometheus"), target) as ask:
        wait_for(lambda: job.ticks > 8)
        yield ask
    job.server.shutdown()


def test_every_dashboard_expression_has_a_value(query: Query) -> None:
    for shown in dashboard_expressions():
        expression = shown.replace("$application", ".*").replace("$__rate_interval", "1m")
        try:
            wait_for(partial(query, expression), 20.0)
        except AssertionError as absent:
            raise AssertionError(f"no value: {expression}") from absent


def test_a_simulated_incident_fires_exactly_its_alerts(query: Query) -> None:
    incident = {"RheostatObjectiveAtRisk", "RheostatBound", "RheostatExecutorsDoNotArrive"}
    wait_for(lambda: incident <= firing(query))
    assert firing(query) == incident


def test_counters_match_the_job(query: Query) -> None:
    (late,) = query("rheostat_late_rows_total")
    (rows,) = query("rheostat_rows_total")
    assert 0 < float(late["value"][1]) <= float(rows["value"][1])
    assert late["metric"]["application"] == "app"
