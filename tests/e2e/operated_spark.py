"""Real Spark behind an operator: a cluster whose pods are processes, drivers and executors in it,
and the operations of tests and a benchmark.
"""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import json
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rheostat.machine.free_ports import free_port
from rheostat.model import Limits
from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster
from rheostat_lab.clusters.kubernetes.objects import place
from rheostat_lab.clusters.session_options import session_options
from rheostat_lab.clusters.spark_defaults import write_defaults
from rheostat_lab.operated.operator_process import OperatorProcess

TOKEN = "a-token-of-a-test"
PORT, UI = free_port(), free_port()
APP = """
import sys
from pyspark.sql import SparkSession, functions as sf

spark = SparkSession.builder.appName("counts").getOrCreate()
rows = (
    spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 80)
    .option("numPartitions", 8).option("advanceMillisPerBatch", 1000)
    .option("startTimestamp", 1_700_000_000_000).load()
)
wait = "java_method('java.util.concurrent.locks.LockSupport', 'parkNanos', 10000000L)"
query = (
    rows.where(sf.expr(f"coalesce({wait}, 'null') = 'null'"))
    .writeStream.format("parquet").trigger(processingTime="1 second")
    .option("checkpointLocation", sys.argv[1] + "/checkpoint").start(sys.argv[1] + "/sink")
)
query.awaitTermination()
"""


class Place:
    """A cluster and an operator, with the operations of tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cluster = KubernetesCluster(cores=5, folder=folder / "cluster")
        (folder / "cluster").mkdir()
        (folder / "app.py").write_text(APP)

    def start(self) -> None:
        """Start the cluster and the operator."""
        self.cluster.start()
        self.plane = self.cluster.plane
        options = session_options(Limits(max_executors=4), initial=1, quiet=True)
        settings = {**options, **self.cluster.settings, "spark.master": self.cluster.url}
        settings["spark.ui.port"] = str(UI)
        write_defaults(self.folder / "conf", settings)
        self.operator = OperatorProcess(self.plane, TOKEN)
        self.operator.deploy()
        until(lambda: self.resources() is not None, "the definition is served")
        self.operator.start()

    def stop(self) -> None:
        """Stop the operator and the cluster."""
        if hasattr(self, "operator"):
            self.operator.stop()
        self.cluster.stop()

    def resources(self) -> list[Any] | None:
        """Return all applications; None if the API does not know the resource yet."""
        try:
            return list(self.plane.request("GET", place(resource("any")))["items"])
        except OSError:
            return None

    def pod(self, name: str, *words: str, submit: str = "") -> dict[str, Any]:
        """Return a driver's pod; ``words`` are additional options of rheostat run."""
        command = [sys.executable, "-m", "rheostat.cli", "run", "--serve", f"$(POD_IP):{PORT}"]
        command += ["--min", "1", "--max", "4", "--interval", "2", *words]
        command += [str(self.folder / "app.py"), "--", str(self.folder / name)]
        env: dict[str, Any] = {
            **self.cluster.driver_environment(),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "RHEOSTAT_TOKEN": TOKEN,
            "XDG_STATE_HOME": str(self.folder / "state"),
            "PYSPARK_SUBMIT_ARGS": f"{submit} pyspark-shell",
        }
        address = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
        container = {
            "name": "driver",
            "image": "rheostat/processes",
            "command": command,
            "env": [address, *({"name": key, "value": value} for key, value in env.items())],
        }
        labels = {"app": name, "spark-role": "driver"}
        spec = {"containers": [container], "restartPolicy": "Never"}
        meta = {"name": name, "namespace": "default", "labels": labels}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}

    def get(self, made: Any, part: str = "") -> Any:
        """Return the current state of an object."""
        return self.plane.request("GET", f"{place(made)}/{made['metadata']['name']}{part}")

    def scale(self, name: str, size: int) -> None:
        """Write the scale as kubectl does, regardless of the operator's own writes."""
        read = self.get(resource(name), "/scale")
        del read["metadata"]["resourceVersion"]
        read["spec"]["replicas"] = size
        self.plane.request("PUT", f"{place(resource(name))}/{name}/scale", read)

    def pods(self, role: str) -> list[Any]:
        """Return the pods of a role that have not ended."""
        items = self.plane.request("GET", f"{place(POD)}?labelSelector=spark-role={role}")["items"]
        return [pod for pod in items if pod["status"]["phase"] in ("Pending", "Running")]

    def every(self, role: str) -> list[str]:
        """Return the names of all pods of a role, including ended ones."""
        pods = self.plane.request("GET", f"{place(POD)}?labelSelector=spark-role={role}")["items"]
        return sorted(str(pod["metadata"]["name"]) for pod in pods)

    def ready(self, name: str) -> str:
        """Return the reason of the condition Ready."""
        conditions = self.get(resource(name)).get("status", {}).get("conditions", ())
        return next(
            (str(condition["reason"]) for condition in conditions if condition["type"] == "Ready"),
            "",
        )


POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "", "namespace": "default"}}


class Driver:
    """A running driver: its control API, and Spark's own view of its executors."""

    def __init__(self, place: Place, name: str) -> None:
        self._pod = until(lambda: running(place, name), f"the driver {name} runs")
        self.ip = self._pod["status"]["podIP"]

    def status(self) -> Any:
        """Return the status in the control API; None if it does not answer yet."""
        return http_json(f"http://{self.ip}:{PORT}/status")

    def post(self, path: str, body: Any) -> None:
        """Send a request to the control API, as the operator does."""
        http_json(f"http://{self.ip}:{PORT}{path}", body)

    def at_work(self) -> int:
        """Return how many registered executors have run a task, by Spark's own UI."""
        apps = http_json(f"http://{self.ip}:{UI}/api/v1/applications") or []
        if not apps:
            return 0
        at = f"http://{self.ip}:{UI}/api/v1/applications/{apps[0]['id']}/executors"
        return sum(
            executor["id"] != "driver" and executor["completedTasks"] > 0
            for executor in http_json(at) or []
        )


def running(place: Place, name: str) -> Any:
    """Return the running pod of a driver by its label; None if there is none."""
    pods = [
        pod
        for pod in place.pods("driver")
        if name in (pod["metadata"]["name"], pod["metadata"]["labels"].get(APPLICATION))
        and pod["status"].get("podIP")
        and "deletionTimestamp" not in pod["metadata"]
    ]
    return pods[0] if pods else None


APPLICATION = "rheostat.dev/application"


def http_json(url: str, body: Any = None) -> Any:
    """Return the answer of an HTTP endpoint of the driver; None if there is none yet."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    method = "GET" if body is None else "PUT"
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            return json.loads(answer.read())
    except (OSError, ValueError):  # while Spark starts, its UI answers with plain text
        return None


def resource(name: str, **spec: Any) -> dict[str, Any]:
    """Return a resource for the driver ``name`` in the mode external."""
    spec.setdefault("driver", {"selector": {"app": name}, "controlPort": PORT})
    return {
        "apiVersion": "rheostat.dev/v1alpha1",
        "kind": "StreamingApplication",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"mode": "external", "limits": {"min": 1, "max": 4}, **spec},
    }


def until(true: Callable[[], Any], what: str, wait_s: float = 180.0) -> Any:
    """Wait until a condition is true, and return its value."""
    end_s = time.monotonic() + wait_s
    while time.monotonic() < end_s:
        value = true()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"not so after {wait_s:.0f} s: {what}")


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


def rows(folder: Path) -> list[int]:
    """Return the sorted values of committed batches in the sink, according to the sink's log."""
    from pyarrow import parquet

    logs = (folder / "sink" / "_spark_metadata").glob("[0-9]*")
    # A log file ending in .compact repeats the entries of the previous ones.
    lines = {line for log in logs for line in log.read_text().splitlines()[1:]}
    paths = [json.loads(line)["path"].removeprefix("file://") for line in lines]
    tables = [parquet.read_table(path, columns=["value"]) for path in paths]
    values = [value for table in tables for value in table["value"].to_pylist()]
    return sorted(values)
