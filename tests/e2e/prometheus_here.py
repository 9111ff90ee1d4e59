"""A local Prometheus for tests: it scrapes one job every second with our rules."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.metrics.test_dashboards_and_alerts import ROOT, RULES

from rheostat.machine.free_ports import free_port

needs_prometheus = pytest.mark.skipif(
    not shutil.which("prometheus"), reason="needs Debian's package prometheus"
)
Query = Callable[[str], list[dict[str, Any]]]


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[Query]:
    """Run a Prometheus that scrapes ``host:port`` and evaluates our rules, with alerts that wait
    for only 3 s; yield its query function.
    """
    port = free_port()
    rules = (ROOT / "deploy" / "prometheus" / "recording-rules.yaml").read_text()
    (folder / "recording.yaml").write_text(rules)
    alerts = [{**rule, "for": "3s"} for rule in RULES]
    text = yaml.safe_dump({"groups": [{"name": "a", "interval": "1s", "rules": alerts}]})
    (folder / "alerts.yaml").write_text(text)
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["recording.yaml", "alerts.yaml"],
        "scrape_configs": [
            {"job_name": "rheostat", "static_configs": [{"targets": [target]}]},
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
        words = urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{words}") as answer:
                result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
                return result
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{expression}: {refused.read().decode()}") from None
        except urllib.error.URLError:
            return []  # it has not started

    try:
        yield query
    finally:
        process.terminate()
        process.wait(30)


def firing(query: Query) -> set[str]:
    """Return the names of the firing alerts."""
    alerts = query('ALERTS{alertstate="firing"}')
    return {alert["metric"]["alertname"] for alert in alerts}


def wait_for(holds: Callable[[], object], most_s: float = 120.0) -> None:
    """Wait until a condition holds; fail after ``most_s`` seconds."""
    until_s = time.monotonic() + most_s
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.2)
