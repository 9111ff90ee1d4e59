"""Nodes of a local Kubernetes whose containers are processes.

``python -m rheostat_lab.clusters.kubernetes.node`` takes a kubeconfig, a folder, Spark's folder, a
Java, the number of nodes, and the cores and MiB of each. It registers the nodes, runs the pods that
the scheduler binds to them, and reports their state. A pod of a Spark driver or executor runs like
the entrypoint of Spark's image, any other pod its command. A file ``lose-N`` in the folder takes
node N (from 0) away: its processes are killed, and it sends no more heartbeats.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from kubernetes import client, config, watch

from rheostat.errors import RheostatError
from rheostat_lab.clusters.kubernetes.container import (
    Means,
    address,
    ask,
    command,
    decommissions,
    environment,
    jvm_options,
    kill,
)
from rheostat_lab.clusters.kubernetes.service_names import Names
from rheostat_lab.clusters.kubernetes.volumes import here, mounted

BEAT_S = 4.0
LOOK_S = 0.5
WATCH_S = 300
GRACE_S = 30.0
_GONE, _EXISTS = 404, 409


@dataclass(slots=True)
class Node:
    """A node with the pods that it runs, by their ids."""

    name: str
    lost: bool = False
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)


class Kubelet:
    """Runs the pods of several nodes, as the user of the kubeconfig."""

    def __init__(self, api: Any, means: Means, nodes: int) -> None:
        self._api = api
        self._names = Names(means.folder / "hosts")
        self._means = replace(means, names=self._names.option)
        self._nodes = {name: Node(name) for name in (f"node-{n}" for n in range(nodes))}
        self._known: set[str] = set()
        self._ending: set[str] = set()
        self._addresses: dict[str, str] = {}
        self._numbers = count()
        self._lock = threading.Lock()

    def run(self) -> None:
        """Register the nodes and run pods forever."""
        for node in self._nodes.values():
            self._register(node)
        for work in (self._beat, self._lose, partial(self._for_ever, self._watch_services)):
            threading.Thread(target=work, daemon=True).start()
        (self._means.folder / "nodes-ready").touch()
        self._for_ever(self._watch)

    def _for_ever(self, watching: Callable[[], None]) -> None:
        while True:
            try:
                watching()
            except Exception as fault:
                log_line(f"a watch has ended: {fault!r:.200}")
                time.sleep(1)

    def _watch_services(self) -> None:
        stream = watch.Watch().stream(
            self._api.list_service_for_all_namespaces, timeout_seconds=WATCH_S
        )
        for event in stream:
            service = event["object"]
            selector = None if event["type"] == "DELETED" else service.spec.selector
            self._names.service(service.metadata.namespace, service.metadata.name, selector)

    def _register(self, node: Node) -> None:
        body = {"metadata": {"name": node.name, "labels": {"kubernetes.io/hostname": node.name}}}
        with answered(_EXISTS):
            self._api.create_node(body)
        self._report(node)

    def _beat(self) -> None:
        while True:
            for node in self._nodes.values():
                if not node.lost:
                    with contextlib.suppress(Exception):
                        self._report(node)
            time.sleep(BEAT_S)

    def _report(self, node: Node) -> None:
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        room = {
            "cpu": str(self._means.cores),
            "memory": f"{self._means.memory_mib}Mi",
            "pods": "110",
            "ephemeral-storage": "100Gi",
        }
        status = {
            "conditions": [{**ready, "lastHeartbeatTime": now(), "lastTransitionTime": now()}],
            "capacity": room,
            "allocatable": room,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        }
        self._api.patch_node_status(node.name, {"status": status})

    def _lose(self) -> None:
        while True:
            for number, node in enumerate(self._nodes.values()):
                if not node.lost and (self._means.folder / f"lose-{number}").exists():
                    node.lost = True
                    log_line(f"{node.name} is lost")
                    for process in node.running.values():
                        kill(process)
            time.sleep(LOOK_S)

    def _watch(self) -> None:
        stream = watch.Watch().stream(
            self._api.list_pod_for_all_namespaces, timeout_seconds=WATCH_S
        )
        for event in stream:
            pod = event["object"]
            node = self._nodes.get(pod.spec.node_name or "")
            if event["type"] == "DELETED" or node is None or node.lost:
                continue
            self._handle_pod(node, pod)

    def _handle_pod(self, node: Node, pod: Any) -> None:
        uid = pod.metadata.uid
        if pod.metadata.deletion_timestamp:
            if uid not in self._ending:
                self._ending.add(uid)
                threading.Thread(target=self._end, args=(node, pod), daemon=True).start()
        elif uid not in self._known and pod.status.phase == "Pending":
            self._known.add(uid)
            threading.Thread(target=self._start, args=(node, pod), daemon=True).start()

    def _start(self, node: Node, pod: Any) -> None:
        uid, name = pod.metadata.uid, pod.metadata.name
        ip = self._addresses[uid] = address(next(self._numbers))
        self._names.pod(pod.metadata.namespace, name, pod.metadata.labels or {}, ip)
        try:
            process = self._process(pod, ip)
        except RheostatError as fault:
            log_line(f"{name} does not start: {fault}")
            self._write_status(pod, "Failed", {"waiting": {"reason": str(fault)}}, ready=False)
            return
        node.running[uid] = process
        started = now()
        log_line(f"{node.name} runs {name} as process {process.pid}")
        self._write_status(pod, "Running", {"running": {"startedAt": started}}, ready=True)
        code = process.wait()
        node.running.pop(uid, None)
        self._names.remove(pod.metadata.namespace, name)
        log_line(f"{name} has ended with {code}")
        if not node.lost:
            ended = {
                "exitCode": code if code >= 0 else 128 - code,
                "startedAt": started,
                "finishedAt": now(),
                "reason": "Completed" if code == 0 else "Error",
            }
            phase = "Succeeded" if code == 0 else "Failed"
            self._write_status(pod, phase, {"terminated": ended}, ready=False)

    def _process(self, pod: Any, ip: str) -> subprocess.Popen[bytes]:
        """Start the process of a pod's container; raises RheostatError for a missing volume."""
        place, container = self._means.folder / "pods" / pod.metadata.name, pod.spec.containers[0]
        (place / "local").mkdir(parents=True, exist_ok=True)
        mounts = mounted(self._api, pod, place / "volumes")
        given = environment(container, ip, pod)
        own = {
            "SPARK_LOCAL_DIRS": str(place / "local"),
            "SPARK_LOCAL_IP": ip,
            # The UI address: only JVMs can resolve the names of services here.
            "SPARK_PUBLIC_DNS": ip,
            "SPARK_HOME": str(self._means.spark_home),
            **jvm_options(container, self._means),
        }
        variables = {name: here(value, mounts) for name, value in given.items()}
        with (place / "log").open("ab") as log:
            return subprocess.Popen(
                command(container, given, self._means, mounts),
                env={**os.environ, **variables, **own},
                cwd=place,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _write_status(self, pod: Any, phase: str, state: Mapping[str, Any], *, ready: bool) -> None:
        container, ip = pod.spec.containers[0], self._addresses[pod.metadata.uid]
        of_container = {
            "name": container.name,
            "image": container.image,
            "imageID": "",
            "ready": ready,
            "restartCount": 0,
            "state": state,
        }
        status = {
            "phase": phase,
            "podIP": ip,
            "podIPs": [{"ip": ip}],
            "hostIP": "127.0.0.1",
            "startTime": now(),
            "conditions": [{"type": "Ready", "status": str(ready)}],
            "containerStatuses": [of_container],
        }
        with answered(_GONE):
            self._api.patch_namespaced_pod_status(
                pod.metadata.name, pod.metadata.namespace, {"status": status}
            )

    def _end(self, node: Node, pod: Any) -> None:
        """End a pod like a kubelet: preStop hook, SIGTERM, and SIGKILL after the grace period."""
        process = node.running.get(pod.metadata.uid)
        if process is not None and process.poll() is None:
            grace_s = pod.metadata.deletion_grace_period_seconds
            deadline = time.monotonic() + (GRACE_S if grace_s is None else grace_s)
            if decommissions(pod.spec.containers[0]):
                ask(process, signal.SIGPWR, deadline)
            ask(process, signal.SIGTERM, deadline)
            kill(process)
        if not node.lost:
            with answered(_GONE, _EXISTS):
                self._api.delete_namespaced_pod(
                    pod.metadata.name,
                    pod.metadata.namespace,
                    body=client.V1DeleteOptions(
                        grace_period_seconds=0, preconditions={"uid": pod.metadata.uid}
                    ),
                )


@contextlib.contextmanager
def answered(*codes: int) -> Any:
    """Ignore API errors with one of these codes."""
    try:
        yield
    except client.ApiException as refused:
        if refused.status not in codes:
            raise


def now() -> str:
    """Return the time in the format of the API server."""
    return datetime.now(timezone.utc).isoformat()


def log_line(line: str) -> None:
    """Write a line to the log."""
    sys.stdout.write(f"{now()} {line}\n")
    sys.stdout.flush()


def main(words: list[str]) -> None:
    """Run the nodes that the command line describes."""
    kubeconfig, folder, spark_home, java, nodes, cores, memory_mib = words
    config.load_kube_config(kubeconfig)
    means = Means(
        folder=Path(folder),
        spark_home=Path(spark_home),
        java=Path(java),
        cores=int(cores),
        memory_mib=int(memory_mib),
    )
    Kubelet(client.CoreV1Api(), means, int(nodes)).run()


if __name__ == "__main__":
    main(sys.argv[1:])
