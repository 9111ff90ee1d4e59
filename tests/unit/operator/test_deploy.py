from pathlib import Path

import yaml

from rheostat.agent.gauges import GAUGES
from rheostat.operator.schema import definition

DEPLOY = Path(__file__).parents[3] / "deploy"


def test_the_definition_that_is_deployed_is_the_one_that_the_options_make():
    """Else: rheostat operator crd > deploy/operator/crd.yaml"""
    assert yaml.safe_load((DEPLOY / "operator" / "crd.yaml").read_text()) == definition()


def test_every_hpa_asks_for_metrics_that_there_are():
    for path in (DEPLOY / "hpa").glob("*.yaml"):
        for metric in yaml.safe_load(path.read_text())["spec"]["metrics"]:
            assert metric["external"]["metric"]["name"].removeprefix("rheostat_") in GAUGES
