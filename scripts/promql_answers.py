"""Query a real Prometheus for the results of rate, deriv, avg_over_time and max_over_time, as JSON
on standard output.

Needs the programs ``prometheus`` and ``promtool`` (Debian package ``prometheus``). The answers of
version 2.42 are kept in ``tests/unit/signals/statistics/promql_answers.json``; a thorough test
repeats the queries::

    python scripts/promql_answers.py > tests/unit/signals/statistics/promql_answers.json
"""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

FUNCTIONS = ("rate", "deriv", "avg_over_time", "max_over_time")
START_S = 1_700_000_000
HEAD = "# TYPE {0} gauge\n"
"""A gauge: OpenMetrics counters must end in _total, and PromQL does not check the type."""


def series() -> dict[str, list[tuple[float, float]]]:
    """Return the series by name: a counter with resets, an irregular one, a gauge, a constant, one
    that starts late, two samples.
    """
    draw = random.Random(7)  # noqa: S311
    counter, value = [], 0.0
    for n in range(60):
        value = draw.uniform(0, 30) if n in (17, 41, 42) else value + draw.uniform(0, 100)
        counter.append((15.0 * n, round(value, 3)))
    times = sorted({round(draw.uniform(0, 880), 3) for _ in range(70)})
    return {
        "counter": counter,
        "irregular": [(t, round(3.7 * t + draw.uniform(0, 3), 3)) for t in times],
        "gauge": [(5.0 * n, round(draw.gauss(0, 1000), 3)) for n in range(180)],
        "constant": [(10.0 * n, 7.0) for n in range(90)],
        "late": [(400.0 + 15.0 * n, 2.0 * n) for n in range(20)],
        "two": [(300.0, 1.0), (330.0, 4.0)],
    }


def questions() -> list[tuple[str, str, float, float]]:
    """Return (function, series, now, window): edges on samples and between them, windows without
    and with few samples.
    """
    times = (30.0, 60.0, 299.5, 300.0, 345.0, 420.0, 640.0, 901.0, 902.0, 960.0)
    moments = [(now, window) for now in times for window in (15.0, 60.0, 75.0, 300.0)]
    return [
        (function, name, now, window)
        for function in FUNCTIONS
        for name in series()
        for now, window in moments
    ]


def open_metrics(all_series: dict[str, list[tuple[float, float]]]) -> str:
    """Return the series as the text that promtool reads."""
    lines = [
        HEAD.format(name) + "".join(f"{name} {v} {START_S + t:.3f}\n" for t, v in samples)
        for name, samples in all_series.items()
    ]
    return "".join(lines) + "# EOF\n"


def answers() -> dict[str, Any]:
    """Start a Prometheus on loopback with its own folder, run every query, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "samples.txt").write_text(open_metrics(series()), encoding="utf-8")
        (Path(folder) / "empty.yml").write_text("{}\n", encoding="utf-8")
        run = [
            "promtool",
            "tsdb",
            "create-blocks-from",
            "openmetrics",
            f"{folder}/samples.txt",
            f"{folder}/data",
        ]
        subprocess.run(run, check=True, capture_output=True)
        address = f"127.0.0.1:{_free_port()}"
        options = [
            "--storage.tsdb.retention.time=100y",
            f"--config.file={folder}/empty.yml",
            f"--storage.tsdb.path={folder}/data",
        ]
        server = subprocess.Popen(
            ["prometheus", *options, f"--web.listen-address={address}", "--log.level=error"]
        )
        try:
            _wait(address)
            version = _get(address, "status/buildinfo", {})["version"]
            results = [[*question, _ask(address, *question)] for question in questions()]
        finally:
            server.terminate()
            server.wait(timeout=30)
    return {"version": version, "series": series(), "answers": results}


def _ask(address: str, function: str, name: str, now: float, window: float) -> float | None:
    query = {"query": f"{function}({name}[{window * 1000:.0f}ms])", "time": f"{START_S + now:.3f}"}
    result = _get(address, "query", query)["result"]
    return float(result[0]["value"][1]) if result else None


def _get(address: str, path: str, query: dict[str, str]) -> Any:
    with urllib.request.urlopen(
        f"http://{address}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=30
    ) as answer:
        return json.load(answer)["data"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(address: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"http://{address}/-/ready", timeout=5):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
    raise SystemExit("Prometheus did not become ready within 60 s")


if __name__ == "__main__":
    document = answers()
    rows = ",\n  ".join(json.dumps(row) for row in document["answers"])
    kept = ",\n  ".join(
        f"{json.dumps(name)}: {json.dumps(samples)}" for name, samples in document["series"].items()
    )
    sys.stdout.write(
        f'{{"version": {json.dumps(document["version"])},\n "series": {{\n  {kept}}},\n "answers": [\n '
        f" {rows}]}}\n"
    )
