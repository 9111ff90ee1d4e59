from __future__ import annotations

from collections.abc import Mapping

import pytest

from rheostat.clusters.registry import cluster_manager
from rheostat.model import Finding

ON = {"spark.decommission.enabled": "TRUE", "spark.executor.maxNumFailures": "100"}


def findings_for(master: str, settings: Mapping[str, str], max_executors: int = 8) -> list[Finding]:
    manager = cluster_manager(master)
    return list(
        manager.findings(lambda name, default: settings.get(name, default), max_executors, "4.3.0")
    )


@pytest.mark.parametrize("master", ["spark://h:7077", "yarn", "k8s://https://h:6443"])
def test_missing_decommissioning_is_reported_on_every_cluster(master: str) -> None:
    first = findings_for(master, {})[0]
    assert first.state == "idle"
    assert "add spark.decommission.enabled=true" in first.line
    assert findings_for(master, ON)[0].state == "good"


@pytest.mark.parametrize("master", ["yarn", "k8s://https://h:6443"])
def test_a_low_executor_failure_limit_is_reported(master: str) -> None:
    settings = {"spark.decommission.enabled": "true", "spark.executor.instances": "1"}
    lines = [finding.line for finding in findings_for(master, settings)]
    assert any("after 3 failed executors in its life" in line for line in lines)


def test_a_pod_batch_smaller_than_the_step_is_reported() -> None:
    lines = [finding.line for finding in findings_for("k8s://h", ON, max_executors=40)]
    assert any("add spark.kubernetes.allocation.batch.size=40" in line for line in lines)
    assert len(findings_for("k8s://h", ON, max_executors=8)) == 2


def test_findings_of_one_manager_appear_only_there() -> None:
    assert len(findings_for("spark://h:7077", ON)) == 1
    excludes = {**ON, "spark.excludeOnFailure.enabled": "true"}
    lines = [finding.line for finding in findings_for("yarn", excludes)]
    assert any("killExcludedExecutors.decommission=true" in line for line in lines)
