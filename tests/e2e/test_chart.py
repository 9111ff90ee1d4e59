"""The Helm chart deploys the objects of the kustomization, and a real API server takes them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kopf", reason="comes with the extra operator")
pytest.importorskip("starlette", reason="comes with the extra serve")
import yaml
from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.operator_plane import running_plane

from rheostat.machine.scratch_folder import cache_folder

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "helm" / "rheostat-operator"
HELM = shutil.which("helm", path=f"{os.environ.get('PATH', '')}:{cache_folder() / 'helm'}")
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        HELM is None or shutil.which("kubectl") is None,
        reason="needs kubectl and helm: GOBIN=~/.cache/rheostat/helm go install"
        " helm.sh/helm/v3/cmd/helm@v3.22.0",
    ),
]


def run(*words: str) -> str:
    """Return the output of a command, which must not fail."""
    done = subprocess.run([*words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def helm(*words: str) -> str:
    return run(str(HELM), *words)


def rendered(*words: str) -> dict[tuple[str, ...], Any]:
    """Return what the chart deploys, with its custom resource definition."""
    return by_name(helm("template", "release", str(CHART), "--include-crds", *words))


def by_name(text: str) -> dict[tuple[str, ...], Any]:
    """Return objects by kind, namespace and name."""
    return {
        (made["kind"], made["metadata"].get("namespace", ""), made["metadata"]["name"]): made
        for made in yaml.safe_load_all(text)
        if made
    }


def test_the_chart_deploys_the_objects_of_the_kustomization() -> None:
    kustomized = by_name(run("kubectl", "kustomize", str(DEPLOY / "operator")))
    del kustomized["Namespace", "", "rheostat"]  # helm's --create-namespace
    assert rendered("--namespace", "rheostat") == kustomized


def test_values_change_namespace_image_secret_and_metrics() -> None:
    values = ["image=registry/operator:2", "tokenSecret=own", "externalMetrics=false"]
    sets = [word for value in values for word in ("--set", value)]
    made = rendered("--namespace", "streams", *sets)
    assert {namespace for _, namespace, _ in made} == {"", "streams", "kube-system"}
    assert not [name for name in made if name[0] in ("APIService", "Service")]
    text = yaml.safe_dump([*made.values()])
    assert "namespace: rheostat" not in text
    assert "rheostat-token" not in text
    (container,) = made["Deployment", "streams", "rheostat-operator"]["spec"]["template"]["spec"][
        "containers"
    ]
    assert container["image"] == "registry/operator:2"
    assert "--lease=streams/rheostat-operator" in container["args"]
    assert "--metrics-name=rheostat-operator.streams.svc" in container["args"]


def test_the_chart_passes_the_linter() -> None:
    assert "0 chart(s) failed" in helm("lint", "--strict", str(CHART))


@pytest.mark.thorough
@needs_kubernetes
def test_the_chart_is_installed_and_uninstalled_on_a_real_api_server(tmp_path: Path) -> None:
    with running_plane(tmp_path) as plane:
        where = ("--kubeconfig", str(plane.kubeconfig), "--namespace", "streams")
        helm("install", "release", str(CHART), "--create-namespace", *where)
        plane.kubectl("--namespace", "streams", "get", "deployment", "rheostat-operator")
        definition = "customresourcedefinition/streamingapplications.rheostat.dev"
        plane.kubectl("wait", "--for=condition=Established", definition, "--timeout=60s")
        assert "deployed" in helm("status", "release", *where)
        helm("uninstall", "release", *where)
        kept = plane.kubectl("get", "deployment,clusterrole,apiservice", "--all-namespaces")
        assert "rheostat-operator" not in kept
        assert "Established" in plane.kubectl("get", definition, "--output", "yaml")
