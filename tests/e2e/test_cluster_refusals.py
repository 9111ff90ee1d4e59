"""Errors of real clusters: each is reported in one line, and a running job continues."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.e2e.drivers_elsewhere import until
from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.run_on_cluster import COUNTS, Run

from rheostat_lab.clusters.kubernetes.control_plane import RULES
from rheostat_lab.clusters.kubernetes.objects import create
from rheostat_lab.clusters.yarn.yarn_cluster import YarnCluster

if TYPE_CHECKING:
    from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
ROLE = Path(__file__).parents[2] / "deploy" / "driver" / "role.yaml"
ACCOUNT = "/api/v1/namespaces/default/serviceaccounts"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
SHORT = {"metadata": {"name": "short"}}
NOBODY = "127.9.9.9"
"""A local address on which no driver listens."""


def role(kubernetes: KubernetesCluster, *rules: Any) -> None:
    """Give the test's account exactly these permissions."""
    kubernetes.plane.request("PUT", f"{ROLES}/roles/short", {**SHORT, "rules": list(rules)})
    subject = {"kind": "ServiceAccount", "name": "short", "namespace": "default"}
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "short"}
    bound = {**SHORT, "subjects": [subject], "roleRef": group}
    kubernetes.plane.request("PUT", f"{ROLES}/rolebindings/short", bound)


def token(kubernetes: KubernetesCluster) -> str:
    """Create the account if it does not exist, and return a token for it."""
    with suppress(OSError):
        kubernetes.plane.request("POST", ACCOUNT, SHORT)
    return token_of(kubernetes, f"{ACCOUNT}/short")


def token_of(kubernetes: KubernetesCluster, account: str) -> str:
    token_request = {"spec": {"audiences": [], "expirationSeconds": 3600}}
    return str(
        kubernetes.plane.request("POST", f"{account}/token", token_request)["status"]["token"]
    )


def with_token(kubernetes: KubernetesCluster, file: Path, text: str | None = None) -> Any:
    file.write_text(text or token(kubernetes))
    at = "spark.kubernetes.authenticate.oauthToken"
    kept = {name: text for name, text in kubernetes.settings.items() if name != at}
    return {**kept, f"{at}File": str(file)}


class Named:
    """A cluster with different settings."""

    def __init__(self, cluster: Any, settings: Mapping[str, str]) -> None:
        self.settings, self.driver_environment = settings, cluster.driver_environment


@needs_kubernetes
def test_missing_permissions_are_reported_as_rbac_rules(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    few = {**RULES[0], "verbs": ["create", "get", "list", "watch", "update", "patch"]}
    role(kubernetes, few)
    named = Named(kubernetes, with_token(kubernetes, tmp_path / "token"))
    run = Run(tmp_path, named, kubernetes.url, {})
    with run.child:
        run.await_line('resources: ["pods"], verbs: ["delete"]')
        run.await_line('resources: ["events"], verbs: ["list"]')
        role(kubernetes, {**few, "verbs": ["get", "watch", "create"]})
        run.request_size(2)
        run.await_line("pods in namespace default may not be listed; add to the driver's role")
        role(kubernetes, *RULES)
        until("two executors", lambda: len(kubernetes.executors()) == 2 or not run.child.alive)
        assert run.ended() == 0, run.log_text()[-4000:]


@needs_kubernetes
def test_the_published_role_is_sufficient_in_a_separate_namespace(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    named = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "jobs"}}
    create(kubernetes.plane, named)
    for made in yaml.safe_load_all(ROLE.read_text()):  # as kubectl apply --namespace jobs does
        create(kubernetes.plane, {**made, "metadata": {**made["metadata"], "namespace": "jobs"}})
    text = token_of(kubernetes, "/api/v1/namespaces/jobs/serviceaccounts/spark")
    own = {"spark.kubernetes.namespace": "jobs"}
    run = Run(
        tmp_path,
        Named(kubernetes, with_token(kubernetes, tmp_path / "token", text)),
        kubernetes.url,
        own,
        COUNTS,
    )
    with run.child:
        run.work()
        for size in (2, 1):
            run.request_size(size)
            until(f"{size} executors", lambda size=size: run.sizes()[-1] == size)  # type: ignore[misc]
            run.work()
        assert run.ended() == 0, run.log_text()[-4000:]
    run.check_counts()
    assert "add to" not in run.log_text()
    assert run.lost() == []


@needs_kubernetes
def test_an_expired_token_is_reported_and_a_new_one_is_used(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    role(kubernetes, *RULES)
    named = Named(kubernetes, with_token(kubernetes, tmp_path / "token"))
    run = Run(tmp_path, named, kubernetes.url, {})
    with run.child:
        until("an executor", lambda: len(kubernetes.executors()) == 1 or not run.child.alive)
        kubernetes.plane.request("DELETE", f"{ACCOUNT}/short")  # this invalidates its tokens
        run.request_size(2)
        run.await_line("the API server rejects the token (401): waiting for a new one")
        (tmp_path / "token").write_text(token(kubernetes))
        until("two executors", lambda: len(kubernetes.executors()) == 2 or not run.child.alive)
        assert run.ended() == 0, run.log_text()[-4000:]


@needs_kubernetes
def test_an_unreachable_driver_is_reported_once_and_the_job_continues(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    host = tmp_path / "host"
    host.write_text(NOBODY)  # for all executors after the first
    run = Run(tmp_path, kubernetes, kubernetes.url, {}, COUNTS)
    with run.child:
        run.work()
        run.request_size(2)
        run.await_line(f"can they reach the driver at {NOBODY}:")
        run.work()
        host.write_text("127.0.0.1")
        until("two executors", lambda: run.sizes()[-1] == 2)
        run.work()
        assert run.ended() == 0, run.log_text()[-4000:]
    run.check_counts()
    assert run.log_text().count("can they reach the driver at") == 1


@needs_kubernetes
def test_an_unreachable_driver_is_reported_before_the_first_batch(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    # Otherwise executors of Spark 4.3 and later connect to the driver's bind address.
    own = {"spark.driver.host": NOBODY, "spark.kubernetes.executor.useDriverPodIP": "false"}
    run = Run(tmp_path / "run", kubernetes, kubernetes.url, own, COUNTS)
    with run.child:
        run.await_line(f"can they reach the driver at {NOBODY}:")
        assert run.finished() == []
        assert run.ended() == 0, run.log_text()[-4000:]


@needs_kubernetes
def test_a_missing_namespace_is_reported_in_one_line(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    admin = {
        "spark.kubernetes.authenticate.oauthToken": kubernetes.plane.admin_token_file.read_text()
    }
    named = Named(kubernetes, {**kubernetes.settings, **admin})
    run = Run(tmp_path, named, kubernetes.url, {"spark.kubernetes.namespace": "nope"})
    with run.child:
        run.await_line("Kubernetes has no namespace nope; set spark.kubernetes.namespace")
        assert run.ended() == 1


def test_a_missing_yarn_queue_is_reported_in_one_line(tmp_path: Path) -> None:
    with YarnCluster(cores=2) as cluster:
        run = Run(tmp_path, cluster, cluster.url, {"spark.yarn.queue": "nope"})
        with run.child:
            run.await_line("YARN accepts no applications in the queue nope; set spark.yarn.queue")
            assert run.ended() == 1
