"""What a cluster refuses, on the real thing: each is one line, and a job that runs goes on."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.drivers_elsewhere import DEADLINE_S, until

from rheostat.local import kubernetes_build
from rheostat.local.executor_options import session_options
from rheostat.local.spark_defaults import write_defaults
from rheostat.local.yarn_cluster import YarnCluster
from rheostat.machine.process import Child
from rheostat.model import Limits

pytest.importorskip("kubernetes", reason="comes with the extra clusters")

from rheostat.local.kubernetes_cluster import KubernetesCluster
from rheostat.local.kubernetes_plane import RULES

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
needs_kubernetes = pytest.mark.skipif(
    not kubernetes_build.are_built(),
    reason="Kubernetes is not in the cache; rheostat cluster up --kind kubernetes builds it",
)
ACCOUNT = "/api/v1/namespaces/default/serviceaccounts"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
SHORT = {"metadata": {"name": "short"}}
SCRIPT = """
import os, sys
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
query = rows.writeStream.format("noop").trigger(processingTime="1 second").start()
while not os.path.exists(sys.argv[1]):
    query.awaitTermination(0.5)
spark.stop()
"""
POLICY = """
import os
from pathlib import Path
from rheostat.model import Decision
from rheostat.policies.fixed import Fixed

class Told(Fixed):
    def decide(self, observation, memory):
        size = int(Path(os.environ["SIZE_FILE"]).read_text())
        return Decision(target=size, reason="told"), memory
"""


class Run:
    """A script under ``rheostat run`` in client mode."""

    def __init__(self, folder: Path, cluster: Any, master: str, own: Mapping[str, str]) -> None:
        self.folder = folder
        (folder / "app.py").write_text(SCRIPT)
        (folder / "told.py").write_text(POLICY)
        self.ask(1)
        options = session_options(Limits(max_executors=2), initial=1, quiet=True)
        write_defaults(folder / "conf", {**options, **cluster.settings, **own})
        words = [sys.executable, "-m", "rheostat.cli", "run", "--master", master]
        words += ["--max", "2", "--interval", "1", "--policy", "told:Told"]
        words += ["--journal", str(folder / "journal"), str(folder / "app.py")]
        self.child = Child(
            [*words, "--", str(folder / "stop")],
            log=folder / "log",
            folder=folder,
            environment={
                **os.environ,
                **cluster.driver_environment(),
                "SPARK_CONF_DIR": str(folder / "conf"),
                "SIZE_FILE": str(folder / "size"),
            },
        )

    def ask(self, size: int) -> None:
        (self.folder / "size.new").write_text(str(size))
        (self.folder / "size.new").replace(self.folder / "size")

    def said(self) -> str:
        return (self.folder / "log").read_text()

    def says(self, line: str) -> None:
        until(line, lambda: line in self.said() or not self.child.alive)
        assert line in self.said(), self.said()[-4000:]

    def ended(self) -> int | None:
        (self.folder / "stop").touch()
        return self.child.wait(DEADLINE_S)


@pytest.fixture(scope="module")
def cluster() -> Iterator[KubernetesCluster]:
    with KubernetesCluster(cores=3) as started:
        yield started


def role(cluster: KubernetesCluster, *rules: Any) -> None:
    """Give the account of the test these rights and no others."""
    cluster.plane.request("PUT", f"{ROLES}/roles/short", {**SHORT, "rules": list(rules)})
    subject = {"kind": "ServiceAccount", "name": "short", "namespace": "default"}
    group = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "short"}
    bound = {**SHORT, "subjects": [subject], "roleRef": group}
    cluster.plane.request("PUT", f"{ROLES}/rolebindings/short", bound)


def token(cluster: KubernetesCluster) -> str:
    """Make the account where it is not there, and return a token of it."""
    with suppress(OSError):
        cluster.plane.request("POST", ACCOUNT, SHORT)
    asked = {"spec": {"audiences": [], "expirationSeconds": 3600}}
    told = cluster.plane.request("POST", f"{ACCOUNT}/short/token", asked)
    return str(told["status"]["token"])


def with_token(cluster: KubernetesCluster, file: Path) -> dict[str, str]:
    file.write_text(token(cluster))
    at = "spark.kubernetes.authenticate.oauthToken"
    kept = {name: text for name, text in cluster.settings.items() if name != at}
    return {**kept, f"{at}File": str(file)}


class Named:
    """A cluster with other settings."""

    def __init__(self, cluster: Any, settings: Mapping[str, str]) -> None:
        self.settings, self.driver_environment = settings, cluster.driver_environment


@needs_kubernetes
def test_rights_that_lack_are_said_as_rules_and_the_job_runs_on(
    cluster: KubernetesCluster, tmp_path: Path
) -> None:
    few = {**RULES[0], "verbs": ["create", "get", "list", "watch", "update", "patch"]}
    role(cluster, few)
    named = Named(cluster, with_token(cluster, tmp_path / "token"))
    run = Run(tmp_path, named, cluster.url, {})
    with run.child:
        run.says('resources: ["pods"], verbs: ["delete"]')
        run.says('resources: ["events"], verbs: ["list"]')
        role(cluster, {**few, "verbs": ["get", "watch", "create"]})
        run.ask(2)
        run.says("pods in namespace default may not be listed; add to the driver's role")
        role(cluster, *RULES)
        until("two executors", lambda: len(cluster.executors()) == 2 or not run.child.alive)
        assert run.ended() == 0, run.said()[-4000:]


@needs_kubernetes
def test_a_token_that_expires_in_the_middle_is_said_and_a_new_one_is_taken(
    cluster: KubernetesCluster, tmp_path: Path
) -> None:
    role(cluster, *RULES)
    named = Named(cluster, with_token(cluster, tmp_path / "token"))
    run = Run(tmp_path, named, cluster.url, {})
    with run.child:
        until("an executor", lambda: len(cluster.executors()) == 1 or not run.child.alive)
        cluster.plane.request("DELETE", f"{ACCOUNT}/short")  # its tokens end with it
        run.ask(2)
        run.says("the API server does not take the token (401): waiting for a new one")
        (tmp_path / "token").write_text(token(cluster))
        until("two executors", lambda: len(cluster.executors()) == 2 or not run.child.alive)
        assert run.ended() == 0, run.said()[-4000:]


@needs_kubernetes
def test_a_namespace_that_is_not_there_is_one_line(
    cluster: KubernetesCluster, tmp_path: Path
) -> None:
    admin = {"spark.kubernetes.authenticate.oauthToken": cluster.plane.admin_token_file.read_text()}
    named = Named(cluster, {**cluster.settings, **admin})
    run = Run(tmp_path, named, cluster.url, {"spark.kubernetes.namespace": "nope"})
    with run.child:
        run.says("Kubernetes has no namespace nope; set spark.kubernetes.namespace")
        assert run.ended() == 1


ELSEWHERE = "127.9.9.9"
"""An address of this computer at which no driver listens."""


@needs_kubernetes
def test_a_driver_that_refuses_its_executors_is_said_and_its_application_ends_by_sparks_rule(
    cluster: KubernetesCluster, tmp_path: Path
) -> None:
    few = {"spark.driver.host": ELSEWHERE, "spark.executor.maxNumFailures": "4"}
    run = Run(tmp_path, cluster, cluster.url, few)
    with run.child:
        run.says("pods have ended before their executors registered, the last")
        run.says(f"can they reach the driver at {ELSEWHERE}:")
        # Spark's own rule, and its code for it.
        assert run.child.wait(DEADLINE_S) == 11, run.said()[-4000:]


@needs_kubernetes
def test_a_driver_that_does_not_answer_its_executors_is_said_and_the_job_runs_on(
    cluster: KubernetesCluster, tmp_path: Path
) -> None:
    with closing(socket.create_server((ELSEWHERE, 0))) as silent:
        port = silent.getsockname()[1]
        own = {"spark.driver.host": ELSEWHERE, "spark.driver.port": str(port)}
        run = Run(tmp_path, cluster, cluster.url, own)
        with run.child:
            run.says(f"have not registered for a minute: can they reach the driver at {ELSEWHERE}:")
            assert run.ended() == 0, run.said()[-4000:]


def test_a_driver_that_the_application_master_does_not_reach_is_one_line(tmp_path: Path) -> None:
    with YarnCluster(cores=2) as cluster:
        run = Run(tmp_path, cluster, cluster.url, {"spark.driver.host": ELSEWHERE})
        with run.child:
            run.says("can its nodes reach this driver? See spark.driver.host")
            assert run.ended() == 1


def test_a_queue_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with YarnCluster(cores=2) as cluster:
        run = Run(tmp_path, cluster, cluster.url, {"spark.yarn.queue": "nope"})
        with run.child:
            run.says("YARN takes no application in the queue nope; set spark.yarn.queue")
            assert run.ended() == 1
