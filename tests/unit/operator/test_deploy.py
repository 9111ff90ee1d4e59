import re
from pathlib import Path

import yaml

from rheostat.metrics.catalog import GAUGES
from rheostat.operator.driver_pod import driver_pod
from rheostat.operator.schema import definition
from rheostat.operator.streaming_application import application_of

DEPLOY = Path(__file__).parents[3] / "deploy"


def test_the_definition_that_is_deployed_is_the_one_that_the_options_make():
    """If this fails, run: rheostat operator crd > deploy/operator/crd.yaml"""
    assert yaml.safe_load((DEPLOY / "operator" / "crd.yaml").read_text()) == definition()


def test_every_hpa_asks_for_metrics_that_there_are():
    for path in (DEPLOY / "hpa").glob("*.yaml"):
        for metric in yaml.safe_load(path.read_text())["spec"]["metrics"]:
            assert metric["external"]["metric"]["name"] in GAUGES


def test_the_examples_are_applications_and_the_template_takes_its_size_before_it_is_used():
    for path in ("application", "template"):
        read = yaml.safe_load((DEPLOY / "example" / f"{path}.yaml").read_text())
        wanted = application_of({**read, "metadata": {**read["metadata"], "namespace": "n"}})
    env = driver_pod(wanted, 1, 3)["spec"]["containers"][0]["env"]
    assert env[0] == {"name": "RHEOSTAT_EXECUTORS", "value": "3"}
    names = [each["name"] for each in env]
    used = [name for name in names if f"$({name})" in str(env[-1]["value"])]
    assert used == ["RHEOSTAT_EXECUTORS", "POD_IP", "POD_NAME"]


def test_the_chart_uses_the_manifests_of_the_kustomization_and_replaces_what_is_in_them():
    chart, operator = DEPLOY / "helm" / "rheostat-operator", DEPLOY / "operator"
    assert (chart / "manifests").resolve() == operator
    assert (chart / "crds" / "crd.yaml").resolve() == operator / "crd.yaml"
    template = (chart / "templates" / "operator.yaml").read_text()
    replaced = re.findall(r'\| replace "([^"]+)"', template)
    named = yaml.safe_load((operator / "kustomization.yaml").read_text())["resources"]
    manifests = "".join((operator / name).read_text() for name in named)
    assert len(replaced) == 5
    assert [text for text in replaced if text not in manifests] == []
