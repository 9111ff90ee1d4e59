"""Real Spark behind the operator: drivers and executors are pods of a real control plane, and what
is written to ``scale`` changes the executors of a query that runs."""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import json
import statistics
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rheostat.local import kubernetes_build

pytest.importorskip("kopf", reason="comes with the extra operator")
pytest.importorskip("kubernetes", reason="comes with the extra operator")
pytest.importorskip("prometheus_client", reason="comes with the extra agent")

from rheostat.lab.operated.operator_process import OperatorProcess
from rheostat.local.executor_options import session_options
from rheostat.local.kubernetes_cluster import KubernetesCluster
from rheostat.local.kubernetes_objects import create, delete, place
from rheostat.local.spark_defaults import write_defaults
from rheostat.machine.free_ports import free_port
from rheostat.model import Limits

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.thorough,
    pytest.mark.skipif(
        not kubernetes_build.are_built(),
        reason="Kubernetes is not in the cache; rheostat cluster up --kind kubernetes builds it",
    ),
]
TOKEN = "a-token-of-a-test"
PORT, UI = free_port(), free_port()
CHANGES = 8
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
    """A cluster, an operator, and what tests do with them."""

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
        """End all of it."""
        if hasattr(self, "operator"):
            self.operator.stop()
        self.cluster.stop()

    def resources(self) -> list[Any] | None:
        """All applications, None where the API does not know of any yet."""
        try:
            return list(self.plane.request("GET", place(resource("any")))["items"])
        except OSError:
            return None

    def pod(self, name: str, *words: str, submit: str = "") -> dict[str, Any]:
        """A driver's pod around the application; ``words`` are more options of rheostat run."""
        command = [sys.executable, "-m", "rheostat.cli", "run", "--agent", f"$(POD_IP):{PORT}"]
        command += ["--min", "1", "--max", "4", "--interval", "2", *words]
        command += [str(self.folder / "app.py"), "--", str(self.folder / name)]
        env: dict[str, Any] = {
            **self.cluster.driver_environment(),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "RHEOSTAT_AGENT_TOKEN": TOKEN,
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
        """An object as it is now."""
        return self.plane.request("GET", f"{place(made)}/{made['metadata']['name']}{part}")

    def scale(self, name: str, size: int) -> None:
        """What kubectl scale does, whatever the operator has written meanwhile."""
        read = self.get(resource(name), "/scale")
        del read["metadata"]["resourceVersion"]
        read["spec"]["replicas"] = size
        self.plane.request("PUT", f"{place(resource(name))}/{name}/scale", read)

    def pods(self, role: str) -> list[Any]:
        """The pods of a role that have not ended."""
        found = self.plane.request("GET", f"{place(POD)}?labelSelector=spark-role={role}")["items"]
        return [each for each in found if each["status"]["phase"] in ("Pending", "Running")]

    def ready(self, name: str) -> str:
        """The reason of the condition Ready."""
        said = self.get(resource(name)).get("status", {}).get("conditions", ())
        return next((str(each["reason"]) for each in said if each["type"] == "Ready"), "")


POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "", "namespace": "default"}}


class Driver:
    """A driver that runs: its agent and Spark's own view of its executors."""

    def __init__(self, place: Place, name: str) -> None:
        self._pod = until(lambda: running(place, name), f"the driver {name} runs")
        self.ip = self._pod["status"]["podIP"]

    def status(self) -> Any:
        """What the agent says, None where it does not answer yet."""
        return asked(f"http://{self.ip}:{PORT}/status")

    def tell(self, path: str, body: Any) -> None:
        """Tell the agent, as the operator does."""
        asked(f"http://{self.ip}:{PORT}{path}", body)

    def at_work(self) -> int:
        """Executors that have run a task and are there, as Spark's own UI tells."""
        apps = asked(f"http://{self.ip}:{UI}/api/v1/applications") or []
        if not apps:
            return 0
        at = f"http://{self.ip}:{UI}/api/v1/applications/{apps[0]['id']}/executors"
        return sum(
            each["id"] != "driver" and each["completedTasks"] > 0 for each in asked(at) or []
        )


def running(place: Place, name: str) -> Any:
    """A driver's pod by its label, None where none runs."""
    found = [
        each
        for each in place.pods("driver")
        if name in (each["metadata"]["name"], each["metadata"]["labels"].get(APPLICATION))
        and each["status"].get("podIP")
        and "deletionTimestamp" not in each["metadata"]
    ]
    return found[0] if found else None


APPLICATION = "rheostat.dev/application"


def asked(url: str, body: Any = None) -> Any:
    """What an HTTP endpoint of the driver answers; None for no answer yet."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    method = "GET" if body is None else "PUT"
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answer:
            return json.loads(answer.read())
    except (OSError, ValueError):  # while Spark starts, its UI answers with a sentence
        return None


def resource(name: str, **spec: Any) -> dict[str, Any]:
    """A resource for the driver of that name, sized from outside."""
    spec.setdefault("driver", {"selector": {"app": name}, "agentPort": PORT})
    return {
        "apiVersion": "rheostat.dev/v1alpha1",
        "kind": "StreamingApplication",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"mode": "external", "limits": {"min": 1, "max": 4}, **spec},
    }


def until(true: Callable[[], Any], what: str, wait_s: float = 180.0) -> Any:
    """Wait until something is so, and return it."""
    end_s = time.monotonic() + wait_s
    while time.monotonic() < end_s:
        found = true()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"not so after {wait_s:.0f} s: {what}")


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


@pytest.fixture(scope="module")
def place_(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("operated"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


def took_s(driver: Driver, ask: Callable[[int], None]) -> list[float]:
    """From a size that is asked for to executors at work, for 1 -> 3; back to 1 between."""
    found = []
    for _ in range(CHANGES):
        begun = time.monotonic()
        ask(3)
        until(lambda: driver.at_work() == 3, "3 executors at work")
        found.append(time.monotonic() - begun)
        ask(1)
        until(lambda: driver.at_work() == 1, "1 executor is left")
    return found


def rows(folder: Path) -> list[int]:
    """The values in the sink, sorted: those of committed batches, by the sink's own log."""
    from pyarrow import parquet

    logs = (folder / "sink" / "_spark_metadata").glob("[0-9]*")
    # A log that ends in .compact names what the ones before it have named.
    lines = {line for log in logs for line in log.read_text().splitlines()[1:]}
    paths = [json.loads(line)["path"].removeprefix("file://") for line in lines]
    tables = [parquet.read_table(path, columns=["value"]) for path in paths]
    found = [value for table in tables for value in table["value"].to_pylist()]
    return sorted(found)


def test_a_size_on_scale_is_soon_at_work_and_a_resource_that_goes_leaves_the_job(
    place_: Place,
) -> None:
    create(place_.plane, place_.pod("live"))
    driver = Driver(place_, "live")
    until(lambda: driver.at_work() == 1, "the query runs")
    driver.tell("/sizing", {"mode": "external", "size": 1, "limits": {"min": 1, "max": 4}})
    alone = took_s(driver, lambda size: driver.tell("/scale", {"executors": size}))
    create(place_.plane, resource("live"))
    until(lambda: place_.ready("live") == "Sized", "the operator has found the driver")
    behind = took_s(driver, lambda size: place_.scale("live", size))
    for how, found in (("alone", alone), ("by the operator", behind)):
        say(
            f"to 2 executors more at work, {how}, n={len(found)}: median"
            f" {statistics.median(found):.2f} s, {min(found):.2f} to {max(found):.2f} s"
        )
    place_.scale("live", 3)
    delete(place_.plane, resource("live"))
    until(lambda: not place_.resources(), "the resource is gone")
    until(lambda: driver.status()["phase"] in ("steady", "idle"), "the job is at rest")
    size = driver.status()["executors"]
    assert size in (1, 3)
    until(lambda: len(place_.pods("executor")) == size, "no pod is left over")
    before = len(rows(place_.folder / "live"))
    until(lambda: len(rows(place_.folder / "live")) > before, "batches go on")
    delete(place_.plane, place_.pod("live"))
    until(lambda: not place_.pods("driver") and not place_.pods("executor"), "all is gone")
    committed = rows(place_.folder / "live")
    assert committed == list(range(len(committed)))


def test_where_live_scaling_cannot_be_a_real_job_is_drained_stopped_and_started_again(
    place_: Place,
) -> None:
    """Spark's own dynamic allocation is on: Rheostat does not scale against it."""
    size = "$(RHEOSTAT_EXECUTORS)"
    own = {"enabled": "true", "minExecutors": size, "maxExecutors": size}
    own |= {"initialExecutors": size, "shuffleTracking.enabled": "true"}
    own |= {"schedulerBacklogTimeout": "1s", "executorIdleTimeout": "60s"}
    submit = " ".join(f"--conf spark.dynamicAllocation.{key}={own[key]}" for key in own)
    pod = place_.pod("own", submit=submit)
    template = {"metadata": {"labels": {"app": "own"}}, "spec": pod["spec"]}
    create(
        place_.plane,
        resource("own", replicas=1, driver={"template": template, "agentPort": PORT}),
    )
    first = Driver(place_, "own")
    until(lambda: first.at_work() == 1, "the query runs on 1 executor")
    until(lambda: place_.ready("own") == "CannotScale", "it is known that it cannot be scaled")
    seen: list[str] = []
    place_.scale("own", 3)

    def again() -> bool:
        reason = place_.ready("own")
        seen.extend([reason] if seen[-1:] != [reason] else [])
        pod = running(place_, "own")
        return bool(pod) and pod["metadata"]["name"] == "own-driver-2"

    begun = time.monotonic()
    until(again, "it is started again")
    second = Driver(place_, "own")
    until(lambda: second.at_work() == 3, "the query runs on 3 executors")
    say(f"drain, stop, restart to 3 executors at work: {time.monotonic() - begun:.1f} s, {seen}")
    assert "Draining" in seen
    before = len(rows(place_.folder / "own"))
    until(lambda: len(rows(place_.folder / "own")) > before, "batches go on")
    delete(place_.plane, resource("own"))
    until(lambda: not place_.pods("driver") and not place_.pods("executor"), "its driver goes too")
    found = rows(place_.folder / "own")
    assert found == list(range(len(found)))
