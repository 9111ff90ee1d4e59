from __future__ import annotations

import pytest

from rheostat.diagnosis.hosting import platform_findings

OFF = "spark.dynamicAllocation.enabled=false"


@pytest.mark.parametrize(
    ("settings", "environment", "name", "setting"),
    [
        ({}, {"DATABRICKS_RUNTIME_VERSION": "17.3"}, "Databricks", None),
        ({"spark.databricks.clusterUsageTags.clusterId": "1"}, {}, "Databricks", None),
        ({"spark.synapse.vhd.name": "x"}, {}, "Synapse or Fabric", OFF),
        ({}, {"AZURE_SERVICE": "Microsoft.ProjectArcadia"}, "Synapse or Fabric", OFF),
        ({"spark.dataproc.engine": "default"}, {}, "Dataproc", OFF),
        ({"spark.emr.default.executor.memory": "4g"}, {}, "EMR", OFF),
        ({}, {"GLUE_VERSION": "5.0"}, "Glue", None),
    ],
)
def test_a_platform_gives_two_lines(
    settings: dict[str, str], environment: dict[str, str], name: str, setting: str | None
) -> None:
    tried, conflict = platform_findings(settings, environment)
    assert (tried.topic, tried.state, conflict.topic, conflict.state) == (
        name,
        "idle",
        name,
        "advice",
    )
    assert "not tried" in tried.line
    assert conflict.setting == setting


def test_a_setting_that_is_already_correct_is_not_advised() -> None:
    settings = {"spark.emr.x": "1", "spark.dynamicAllocation.enabled": "False"}
    assert platform_findings(settings, {})[1].setting is None


def test_other_platforms_give_no_findings() -> None:
    assert platform_findings({"spark.master": "yarn"}, {"PATH": "/bin"}) == ()
