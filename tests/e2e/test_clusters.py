"""A local YARN and a local Kubernetes: up and down, and a stateful query that is sized on them.

Each soak is a separate process: a driver's JVM reads the location of its cluster at its start.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.e2e.kubernetes_here import needs_kubernetes

from rheostat_lab.clusters import cluster_kinds

pytestmark = pytest.mark.e2e
DEADLINE_S = 1500.0
BOTH = ["yarn", pytest.param("kubernetes", marks=needs_kubernetes)]


def soaked(kind: str, query: str, **numbers: int) -> dict[str, Any]:
    words = [word for name, number in numbers.items() for word in (f"--{name}", str(number))]
    line = [sys.executable, "-m", "rheostat_lab.rescale.cluster_soak", "--kind", kind]
    done = subprocess.run(
        [*line, "--query", query, *words], capture_output=True, text=True, timeout=DEADLINE_S
    )
    assert done.returncode == 0, (done.stdout, done.stderr[-3000:])
    return dict(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("kind", BOTH)
def test_a_cluster_stops_without_leaving_processes_or_files(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = {process.pid for process in psutil.process_iter()}
    try:
        up = cluster_kinds.up(kind, cores=2)
        conf = Path(up.environment["SPARK_CONF_DIR"])
        defaults = (conf / "spark-defaults.conf").read_text()
        assert f"spark.master {up.url}" in defaults
        assert "spark.executor.memory 512m" in defaults
        assert (conf / "cluster-mode.conf").exists() == (kind == "kubernetes")
    finally:
        assert cluster_kinds.down() == [up.url]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    left = [other for other in psutil.process_iter(["cmdline"]) if other.pid not in before]
    assert [other for other in left if str(tmp_path) in " ".join(other.info["cmdline"] or [])] == []


@pytest.mark.thorough
@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("query", ["session", "join"])
def test_random_rescales_with_kills_and_deletions_keep_the_output_exact(
    kind: str, query: str
) -> None:
    done = soaked(kind, query, rescalings=12, kills=2, deletions=2, losses=1)
    assert (done["kills"], done["deletions"], done["losses"]) == (2, 2, 1)
    assert done["failed_in_planned"] == 0
    assert done["rows"] > 0
