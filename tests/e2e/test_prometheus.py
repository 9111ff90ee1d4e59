# mypy: disallow-untyped-calls=False
"""A real Prometheus scrapes the metrics of a job and evaluates every expression that we ship."""

import json
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import yaml
from tests.unit.metrics.test_dashboards_and_alerts import ROOT, RULES, dashboard_expressions
from tests.unit.metrics.test_record_metrics import START, record

pytest.importorskip("prometheus_client", reason="comes with the extra serve")

from rheostat.machine.free_ports import free_port
from rheostat.metrics.registry import CONTENT_TYPE, MetricsRegistry
from rheostat.model import InFlight

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not shutil.which("prometheus"), reason="needs Debian's package prometheus"),
]
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
    """A job that is late, bound by its sink, and lacks an executor; it ticks at each scrape."""

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
        target = 2 if self.ticks <= 3 else 4  # 2 executors come, of 4 only 3
        size = (executors, 2, 2, 2, 4)[min(self.ticks, 5) - 1]
        tick = record(time.time(), executors, target, size, evidence=EVIDENCE, **shown)
        self.metrics.add(tick)
        if self.ticks == 3:
            failed = record(time.time(), target=None, phase="failed", detail="KeyError: 'x'")
            self.metrics.add(failed)
        return self.metrics.text()


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Start a job and a Prometheus with our rules, whose waits are 3 s here; yield a query."""
    folder = tmp_path_factory.mktemp("prometheus")
    job, port = Job(), free_port()
    rules = (ROOT / "deploy" / "prometheus" / "recording-rules.yaml").read_text()
    (folder / "recording.yaml").write_text(rules)
    alerts = [{**rule, "for": "3s"} for rule in RULES]
    text = yaml.safe_dump({"groups": [{"name": "a", "interval": "1s", "rules": alerts}]})
    (folder / "alerts.yaml").write_text(text)
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["recording.yaml", "alerts.yaml"],
        "scrape_configs": [
            {
                "job_name": "rheostat",
                "static_configs": [{"targets": [f"127.0.0.1:{job.server.server_port}"]}],
            }
        ],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    process = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stderr=subprocess.DEVNULL,
    )

    def query(expression: str) -> list[dict[str, Any]]:
        asked = urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{asked}") as answer:
                result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
                return result
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{expression}: {refused.read().decode()}") from None

    try:
        _wait_for(lambda: job.ticks > 8)
        yield query
    finally:
        process.terminate()
        process.wait(30)
        job.server.shutdown()


def _wait_for(holds, most_s=120.0):
    until_s = time.monotonic() + most_s
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.2)


def test_every_expression_of_the_dashboards_has_a_value(ask):
    for shown in dashboard_expressions():
        expression = shown.replace("$application", ".*").replace("$__rate_interval", "1m")
        try:
            _wait_for(lambda expression=expression: ask(expression), 20.0)
        except AssertionError as absent:
            raise AssertionError(f"no value: {expression}") from absent


def test_a_staged_incident_fires_its_alerts_and_no_other(ask):
    def firing():
        alerts = ask('ALERTS{alertstate="firing"}')
        return {alert["metric"]["alertname"] for alert in alerts}

    incident = {"RheostatObjectiveAtRisk", "RheostatBound", "RheostatExecutorsDoNotArrive"}
    _wait_for(lambda: incident <= firing())
    assert firing() == incident


def test_the_counters_are_those_of_the_job(ask):
    (late,) = ask("rheostat_late_rows_total")
    (rows,) = ask("rheostat_rows_total")
    assert 0 < float(late["value"][1]) <= float(rows["value"][1])
    assert late["metric"]["application"] == "app"
