"""The pages of the operator on a real control plane with RBAC: every command on them is run
unchanged, except the build of the image, which is impossible here."""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rheostat_lab.clusters.kubernetes import plane_build

pytest.importorskip("kopf", reason="comes with the extra operator")
pytest.importorskip("kubernetes", reason="comes with the extra operator")
pytest.importorskip("prometheus_client", reason="comes with the extra serve")

from tests.e2e.operator_plane import Driver, environment

from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster
from rheostat_lab.clusters.kubernetes.objects import create
from rheostat_lab.operated.operator_process import OperatorProcess
from rheostat_lab.operated.sized_resource import driver_pod

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.thorough,
    pytest.mark.skipif(
        not (plane_build.are_built() and shutil.which("kubectl")),
        reason="needs kubectl, and Kubernetes in the cache (rheostat cluster up)",
    ),
]
ROOT = Path(__file__).parents[2]
OURS = "customresourcedefinitions,clusterroles,clusterrolebindings,apiservices,namespaces"


def commands(page: str, begin: str) -> list[str]:
    """Return the commands of a page that begin with ``begin``, in order."""
    lines = (ROOT / "docs/deploy" / page).read_text().splitlines()
    return [line.strip() for line in lines if line.startswith("        " + begin)]


class Owner:
    """The owner of a cluster, with a shell in the repository's folder."""

    def __init__(self, cluster: KubernetesCluster) -> None:
        self._config = str(cluster.plane.kubeconfig)

    def run(self, command: str) -> str:
        """Run a line of a page."""
        done = subprocess.run(
            ["bash", "-ec", command],
            cwd=ROOT,
            env=environment(KUBECONFIG=self._config),
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[KubernetesCluster]:
    with KubernetesCluster(cores=2, folder=tmp_path, hpa_s=1.0) as made:
        yield made


def until(true: Callable[[], Any], what: str, wait_s: float = 90.0) -> Any:
    """Wait until a condition is true, and return its value."""
    end_s = time.monotonic() + wait_s
    while time.monotonic() < end_s:
        value = true()
        if value:
            return value
        time.sleep(0.2)
    raise AssertionError(f"not so after {wait_s:.0f} s: {what}")


def executors(application: str) -> list[dict[str, Any]]:
    """Return pods with the labels of Spark's executors: an HPA counts the ready ones."""
    made = []
    for number in range(3):
        pod = driver_pod()
        labels = {"spark-app-selector": application, "spark-role": "executor"}
        pod["metadata"] = {**pod["metadata"], "name": f"exec-{number}", "labels": labels}
        made.append(pod)
    return made


def begin_driver(cluster: KubernetesCluster, owner: Owner) -> Driver:
    """Step 3: create a driver's pod with its labels, and a control API on the default port."""
    pod = driver_pod()
    pod["metadata"] = {**pod["metadata"], "name": "etl-1"}
    pod["metadata"]["labels"] = {"app": "etl", "spark-role": "driver"}
    create(cluster.plane, pod, *executors("app-8085"))
    command = "kubectl get pod etl-1 --output jsonpath={.status.podIP}"
    address = until(lambda: owner.run(command), "the driver's pod has an address")
    secret = "kubectl get secret rheostat-token --output jsonpath={.data.token}"
    token = owner.run(f"{secret} | base64 --decode")
    return Driver(3, token=token, at=(address, 8085))


def test_the_documented_commands_install_scale_and_remove_everything(
    cluster: KubernetesCluster,
) -> None:
    owner = Owner(cluster)
    before = owner.run(f"kubectl get {OURS} --output name")
    install, rest = _split(commands("operator.md", "kubectl "), "deploy/example")
    for command in install:
        owner.run(command)
    owner.run("kubectl apply --dry-run=server --filename deploy/example/template.yaml")
    pods = "kubectl --namespace rheostat get pods --output name"
    until(lambda: owner.run(pods), "the namespace admits the operator's pod")
    token = owner.run(
        "kubectl --namespace rheostat get secret rheostat-token"
        " --output jsonpath={.data.token} | base64 --decode"
    )
    # The image cannot run here: the operator is a process with the permissions of its account, and
    # the service of its metrics leads to it.
    operator = OperatorProcess(cluster.plane, token)
    port = f'[{{"op":"replace","path":"/spec/service/port","value":{operator.port}}}]'
    owner.run(f"kubectl patch apiservice v1beta1.external.metrics.k8s.io --type=json -p '{port}'")
    owner.run("kubectl --namespace rheostat delete service rheostat-operator")
    owner.run(
        "kubectl --namespace rheostat create service externalname rheostat-operator"
        " --external-name localhost"
    )
    driver = begin_driver(cluster, owner)
    ready = (
        "kubectl get streamapp etl --output"
        " jsonpath='{.status.conditions[?(@.type==\"Ready\")].reason}'"
    )
    with operator:
        shadow, patched = _split(rest, "kubectl patch")
        for command in shadow:
            owner.run(command)
        until(lambda: owner.run(ready) == "Sized", "the operator finds the driver")
        assert driver.control.report().sizing.mode == "shadow"
        for command in patched:
            owner.run(command)
            if "scale" in command:
                until(lambda: driver.size == 5, "the size is at the driver")
        assert driver.requested == [5]
        driver.signals = {"busy": 0.9, "lag_rows": 0.0, "processed_rows_per_s": 100.0}
        target = "kubectl get hpa etl --output jsonpath={.status.currentMetrics}"
        until(lambda: _ticked(driver) and "utilization" in owner.run(target), "the HPA reads", 120)
        for command in commands("operator-leave.md", "kubectl "):
            owner.run(command)
    assert driver.size == 5
    until(lambda: owner.run(f"kubectl get {OURS} --output name") == before, "nothing is left")
    left = owner.run(
        "kubectl get all,secrets,hpa,roles,rolebindings --all-namespaces --output name"
    )
    assert [line for line in left.splitlines() if "rheostat" in line] == []
    assert "pod/etl-1" in left
    driver.close()


def _ticked(driver: Driver) -> bool:
    driver.tick()
    return True


def _split(lines: list[str], first: str) -> tuple[list[str], list[str]]:
    """Split the lines before the first one that contains ``first``."""
    at = next(number for number, line in enumerate(lines) if first in line)
    return lines[:at], lines[at:]
