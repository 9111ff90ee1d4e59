"""The recorded answers of Prometheus still equal those of the local one."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.thorough


@pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="needs Debian's package prometheus",
)
def test_a_real_prometheus_matches_the_recorded_answers():
    recorded = json.loads(
        (ROOT / "tests/unit/signals/statistics/promql_answers.json").read_text(encoding="utf-8")
    )
    current = json.loads(
        json.dumps(runpy.run_path(str(ROOT / "scripts/promql_answers.py"))["answers"]())
    )
    assert current["series"] == recorded["series"]
    assert [row[:4] for row in current["answers"]] == [row[:4] for row in recorded["answers"]]
    for fresh, kept in zip(current["answers"], recorded["answers"], strict=True):
        assert fresh[4] == (
            None if kept[4] is None else pytest.approx(kept[4], rel=1e-9, abs=1e-9)
        ), (current["version"], kept)
