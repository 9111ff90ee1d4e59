from __future__ import annotations

from collections.abc import Mapping

import pytest

from rheostat.clusters.registry import cluster_manager
from rheostat.model import Finding

ON = {"spark.decommission.enabled": "TRUE", "spark.executor.maxNumFailures": "100"}


def found(master: str, given: Mapping[str, str], most: int = 8) -> list[Finding]:
    manager = cluster_manager(master)
    return list(manager.findings(lambda name, default: given.get(name, default), most, "4.3.0"))


@pytest.mark.parametrize("master", ["spark://h:7077", "yarn", "k8s://https://h:6443"])
def test_without_decommissioning_the_setting_is_named_on_every_cluster(master: str) -> None:
    first = found(master, {})[0]
    assert first.state == "idle"
    assert "add spark.decommission.enabled=true" in first.line
    assert found(master, ON)[0].state == "good"


@pytest.mark.parametrize("master", ["yarn", "k8s://https://h:6443"])
def test_an_application_that_a_few_failures_would_end_is_named(master: str) -> None:
    given = {"spark.decommission.enabled": "true", "spark.executor.instances": "1"}
    lines = [each.line for each in found(master, given)]
    assert any("after 3 failed executors in its life" in line for line in lines)


def test_small_batches_of_pods_are_named_where_the_jump_is_larger() -> None:
    lines = [each.line for each in found("k8s://h", ON, most=40)]
    assert any("add spark.kubernetes.allocation.batch.size=40" in line for line in lines)
    assert len(found("k8s://h", ON, most=8)) == 2


def test_what_only_one_manager_has_is_said_only_there() -> None:
    assert len(found("spark://h:7077", ON)) == 1
    excludes = {**ON, "spark.excludeOnFailure.enabled": "true"}
    lines = [each.line for each in found("yarn", excludes)]
    assert any("killExcludedExecutors.decommission=true" in line for line in lines)
