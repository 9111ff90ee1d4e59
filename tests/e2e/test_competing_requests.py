"""Another component requests executors in the driver of a job that Rheostat sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.drivers_elsewhere import until
from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.run_on_cluster import COUNTS, Run

from rheostat_lab.clusters.standalone_cluster import HOSTS, Cluster

if TYPE_CHECKING:
    from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]
FOUGHT = COUNTS.replace(
    "look_here()\nspark.conf.set(",
    """
import threading, time
def fight():
    while not os.path.exists(sys.argv[1]):
        if os.path.exists(folder + "/fight"):  # as a plugin that goes by the load of a pod
            total = int(open(folder + "/fight").read())
            context = spark.sparkContext._jsc.sc()
            nothing = spark._jvm.PythonUtils.toScalaMap(spark._jvm.java.util.HashMap())
            context.requestTotalExecutors(total, 0, nothing)
        time.sleep(2)
threading.Thread(target=fight, daemon=True).start()
spark.conf.set(""",
    1,
)


def check_competing_requests(run: Run) -> None:
    """Rheostat requests two executors, the other one and then three; that is reported once."""
    with run.child:
        run.work()
        (run.folder / "fight").write_text("1")
        run.request_size(2)
        run.await_line("another program requested executors")
        until("two executors", lambda: run.sizes()[-1] == 2)
        (run.folder / "fight").write_text("3")
        run.work(20)
        assert run.ended() == 0, run.log_text()[-4000:]
    run.check_counts()
    assert run.log_text().count("another program requested executors") == 1
    details = [record.rescaling.detail for record in run.records() if record.rescaling]
    assert any("most recently for 3, while Rheostat asks for 2" in detail for detail in details)
    assert {record.target for record in run.records()[-15:]} == {2}


def test_on_standalone_a_competing_requester_is_reported_and_counts_are_exact(
    tmp_path: Path,
) -> None:
    with Cluster(cores=3, hosts=HOSTS[:1]) as cluster:
        check_competing_requests(Run(tmp_path, cluster, cluster.url, {}, FOUGHT, most=3))


@needs_kubernetes
def test_on_kubernetes_a_competing_requester_is_reported_and_counts_are_exact(
    kubernetes: KubernetesCluster, tmp_path: Path
) -> None:
    check_competing_requests(Run(tmp_path, kubernetes, kubernetes.url, {}, FOUGHT, most=3))
