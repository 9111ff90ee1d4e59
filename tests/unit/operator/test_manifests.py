import re
from pathlib import Path

import yaml

from rheostat.control.sizing import MODES
from rheostat.metrics.catalog import GAUGES
from rheostat.model import Limits
from rheostat.operator.driver_pod import driver_pod
from rheostat.operator.schema import definition
from rheostat.operator.streaming_application import (
    CONTROL_PORT,
    GROUP,
    KIND,
    PLURAL,
    SOURCES,
    VERSION,
    application_of,
)

DEPLOY = Path(__file__).parents[3] / "deploy"


def test_the_deployed_crd_matches_the_generated_definition():
    """If this fails, run: rheostat operator crd > deploy/operator/crd.yaml"""
    assert yaml.safe_load((DEPLOY / "operator" / "crd.yaml").read_text()) == definition()


def test_the_definition_names_what_the_operator_reads():
    spec = definition()["spec"]
    (version,) = spec["versions"]
    names = (spec["group"], version["name"], spec["names"]["plural"], spec["names"]["kind"])
    assert names == (GROUP, VERSION, PLURAL, KIND)
    given = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    usual = {"min": Limits().min_executors, "max": Limits().max_executors}
    limits = given["limits"]["properties"]
    assert given["mode"]["enum"] == list(MODES)
    assert given["limits"]["default"] == usual
    assert {name: limits[name]["default"] for name in limits} == usual
    driver = given["driver"]
    assert driver["properties"]["controlPort"]["default"] == CONTROL_PORT
    assert [*driver["properties"]][: len(SOURCES)] == [*SOURCES]
    (rule,) = driver["x-kubernetes-validations"]
    assert re.findall(r"has\(self\.(\w+)\)", rule["rule"]) == [*SOURCES]


def test_every_hpa_uses_existing_metrics():
    for path in (DEPLOY / "hpa").glob("*.yaml"):
        for metric in yaml.safe_load(path.read_text())["spec"]["metrics"]:
            assert metric["external"]["metric"]["name"] in GAUGES


def test_the_examples_are_valid_and_the_template_defines_the_size_before_use():
    for path in ("application", "template"):
        manifest = yaml.safe_load((DEPLOY / "example" / f"{path}.yaml").read_text())
        application = application_of(
            {**manifest, "metadata": {**manifest["metadata"], "namespace": "n"}}
        )
    env = driver_pod(application, 1, 3)["spec"]["containers"][0]["env"]
    assert env[0] == {"name": "RHEOSTAT_EXECUTORS", "value": "3"}
    names = [variable["name"] for variable in env]
    used = [name for name in names if f"$({name})" in str(env[-1]["value"])]
    assert used == ["RHEOSTAT_EXECUTORS", "POD_IP", "POD_NAME"]


def test_the_chart_uses_and_replaces_parts_of_the_kustomization_manifests():
    chart, operator = DEPLOY / "helm" / "rheostat-operator", DEPLOY / "operator"
    assert (chart / "manifests").resolve() == operator
    assert (chart / "crds" / "crd.yaml").resolve() == operator / "crd.yaml"
    template = (chart / "templates" / "operator.yaml").read_text()
    replaced_texts = re.findall(r'\| replace "([^"]+)"', template)
    resources = yaml.safe_load((operator / "kustomization.yaml").read_text())["resources"]
    manifests = "".join((operator / name).read_text() for name in resources)
    assert len(replaced_texts) == 5
    assert [text for text in replaced_texts if text not in manifests] == []
