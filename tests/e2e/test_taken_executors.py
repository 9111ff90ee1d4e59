"""A cluster takes executors away for other applications: each is reported, and the job continues
with an exact output.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.e2e.drivers_elsewhere import until
from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.run_on_cluster import COUNTS, Run

from rheostat_lab.clusters.executor_processes import executor_id
from rheostat_lab.clusters.yarn.yarn_cluster import YarnCluster

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
PODS = "/api/v1/namespaces/default/pods"
PRIORITY = {"metadata": {"name": "urgent"}, "value": 1000}
URGENT: dict[str, Any] = {
    "metadata": {"name": "urgent"},
    "spec": {
        "priorityClassName": "urgent",
        "containers": [
            {
                "name": "urgent",
                "image": "none",
                "command": ["sleep", "3600"],
                "resources": {"requests": {"cpu": "1"}},
            }
        ],
    },
}


def await_size(run: Run, size: int) -> None:
    until(f"{size} executors", lambda: run.sizes()[-1:] == [size] or not run.child.alive)
    assert run.child.alive, run.log_text()[-4000:]


def await_detail(run: Run, words: str) -> None:
    until(words, lambda: any(words in record.rescaling.detail for record in run.records()))


@needs_kubernetes
def test_preemption_eviction_and_deletion_are_distinguished_from_scale_in(
    tmp_path: Path,
) -> None:
    pytest.importorskip("kubernetes", reason="comes with the extra clusters")
    from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster

    with KubernetesCluster(cores=2) as cluster:
        run = Run(tmp_path / "run", cluster, cluster.url, {}, COUNTS, size=2)
        with run.child:
            await_size(run, 2)
            run.work()
            ask = cluster.plane.request
            ask("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", PRIORITY)
            ask("POST", PODS, URGENT)
            run.await_line("was lost: its pod was preempted for one of higher priority")
            await_detail(run, "1 pod pending")
            await_detail(run, "0/1 nodes are available: 1 Insufficient cpu")
            ask("DELETE", f"{PODS}/urgent")
            await_size(run, 2)
            run.work()
            victim = executor_id(cluster.executors()[0])
            (pod,) = ask("GET", f"{PODS}?labelSelector=spark-exec-id%3D{victim}")["items"]
            named = {"metadata": {"name": pod["metadata"]["name"]}}
            ask("POST", f"{PODS}/{named['metadata']['name']}/eviction", named)
            run.await_line(f"executor {victim} was lost: its pod was evicted through the API")
            await_size(run, 2)
            run.work()
            victim = executor_id(cluster.executors()[0])
            (pod,) = ask("GET", f"{PODS}?labelSelector=spark-exec-id%3D{victim}")["items"]
            ask("DELETE", f"{PODS}/{pod['metadata']['name']}")
            run.await_line(
                f"executor {victim} was lost: its pod was deleted, by a person or a program"
            )
            await_size(run, 2)
            run.work()
            assert run.ended() == 0, run.log_text()[-4000:]
    run.check_counts()
    assert len(run.lost()) == 3
    assert {record.target for record in run.records() if record.raw} == {2}


def test_executors_preempted_by_yarn_are_reported_and_replaced(tmp_path: Path) -> None:
    with YarnCluster(cores=4) as cluster:
        own = {"spark.yarn.queue": "default"}
        run = Run(tmp_path / "run", cluster, cluster.url, own, COUNTS, most=4, size=4)
        with run.child:
            await_size(run, 4)
            run.work()
            other = Run(tmp_path / "other", cluster, cluster.url, {"spark.yarn.queue": "urgent"})
            with other.child:
                run.await_line("was lost: preempted by another workload")
                run.work()
                assert other.ended() == 0, other.log_text()[-4000:]
            await_size(run, 4)
            run.work()
            assert run.ended() == 0, run.log_text()[-4000:]
    run.check_counts()
    lost = run.lost()
    assert lost
    assert all(item.endswith("preempted by another workload") for item in lost), lost
    assert {item.target for item in run.records() if item.raw} == {4}
