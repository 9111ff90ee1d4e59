# mypy: disallow-untyped-calls=False
"""The dashboards of Grafana and the alerts of Prometheus use metrics that exist."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rheostat.metrics.catalog import FAMILIES

ROOT = Path(__file__).parents[3]
DASHBOARDS = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
ALERTS = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text())
RULES = ALERTS["groups"][0]["rules"]


def dashboard_expressions():
    return [
        target["expr"]
        for path in DASHBOARDS
        for panel in json.loads(path.read_text())["panels"]
        for target in panel["targets"]
    ]


@pytest.mark.parametrize("expression", [*dashboard_expressions(), *(r["expr"] for r in RULES)])
def test_expressions_use_existing_metrics_and_labels(expression):
    names = set(re.findall(r"\brheostat_\w+", expression))
    assert names or "up{" in expression
    for name in names:
        family = FAMILIES.get(name) or FAMILIES[re.sub("_(bucket|sum|count)$", "", name)]
        assert (family.kind == "histogram") == name.endswith("_bucket")
        assert ("rate(" in expression or "increase(" in expression) or family.kind == "gauge"


def test_every_alert_has_a_severity_a_summary_and_a_runbook():
    for rule in RULES:
        assert rule["labels"]["severity"] in ("info", "warning", "critical")
        assert {"summary", "description"} <= rule["annotations"].keys()
        page = (ROOT / rule["annotations"]["runbook_url"]).read_text()
        assert f"Alert `{rule['alert']}`" in page


def test_every_alert_has_a_test_in_which_it_fires():
    cases = (ROOT / "deploy" / "prometheus" / "alerts.test.yaml").read_text()
    for rule in RULES:
        assert f'alertname="{rule["alert"]}", alertstate="firing"' in cases


@pytest.mark.skipif(not shutil.which("promtool"), reason="needs Debian's package prometheus")
@pytest.mark.parametrize("command", ["check rules alerts.yaml", "test rules alerts.test.yaml"])
def test_promtool_accepts_the_alerts(command):
    ran = subprocess.run(
        ["promtool", *command.split()],
        cwd=ROOT / "deploy" / "prometheus",
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_committed_dashboards_match_the_script():
    pytest.importorskip("grafana_foundation_sdk", reason="comes with the extra test")
    written = subprocess.run(
        [sys.executable, "-c", _SHOW], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for path in DASHBOARDS:
        assert json.loads(written.stdout)[path.name] == path.read_text()


_SHOW = """
import json, sys
sys.path.insert(0, "scripts")
import grafana_dashboards
print(json.dumps(grafana_dashboards.files()))
"""
