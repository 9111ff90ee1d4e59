"""A real API server with etcd and the HPA's controller, an operator, and drivers that are control
APIs in this process.
"""

# mypy: disallow-untyped-calls=False

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from rheostat.config import GuardOptions
from rheostat.control.access import Access
from rheostat.control.control_app import control_app
from rheostat.control.control_service import ControlService
from rheostat.control.server import Server
from rheostat.guards import guards_of
from rheostat.journal.folder import MemoryJournal
from rheostat.loop import Loop
from rheostat.machine.free_ports import free_port
from rheostat.model import Capabilities, Decision, Limits, Observation, Rescaling
from rheostat.policies.rules.fixed import Fixed
from rheostat.ports import Actuator, Sensor
from rheostat_lab.clusters.kubernetes import plane_build
from rheostat_lab.clusters.kubernetes.control_plane import ControlPlane

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-a-test"
GROUP = "/apis/rheostat.dev/v1alpha1/namespaces/default/streamingapplications"


class Plane(ControlPlane):
    """A control plane without scheduler and nodes, with an HPA that decides every second."""

    def _child(self, name: str, words: Any) -> None:
        if name == "kube-scheduler":
            return
        if name == "kube-controller-manager":
            kept = [word for word in words if not word.startswith("--controllers")]
            wanted = "horizontal-pod-autoscaler-controller,serviceaccount-controller"
            words = [*kept, f"--controllers={wanted}"]
            words += ["--horizontal-pod-autoscaler-sync-period=1s"]
            words += ["--horizontal-pod-autoscaler-initial-readiness-delay=0s"]
        super()._child(name, words)

    def kubectl(self, *words: str, stdin: str | None = None, check: bool = True) -> str:
        """Run kubectl with all permissions."""
        done = subprocess.run(
            ["kubectl", "--kubeconfig", str(self.kubeconfig), *words],
            input=stdin,
            text=True,
            capture_output=True,
            env=environment(),
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def apply(self, *objects: Any) -> str:
        """Apply objects."""
        return self.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(objects))


@contextmanager
def running_plane(folder: Path) -> Iterator[Plane]:
    """Run a control plane in a folder; for tests of ``needs_kubernetes``."""
    made = Plane(folder, plane_build.programs_folder())
    try:
        made.start()
        yield made
    finally:
        made.stop()


def environment(**more: str) -> dict[str, str]:
    """Return an environment without proxies."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    return {**kept, **more}


class Operator:
    """The operator as a process, with the permissions of its own service account."""

    def __init__(self, plane: Plane, *extra: str, every_s: float = 1.0) -> None:
        self._plane, self._every_s, self._extra = plane, every_s, extra
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.log = plane.folder / f"operator-{self.port}.log"

    def deploy(self) -> None:
        """Apply the repository's deployment; its service leads to this computer instead."""
        made = self._plane.kubectl("kustomize", str(ROOT / "deploy" / "operator"))
        here = []
        for document in yaml.safe_load_all(made):
            if document["kind"] == "Service":
                document["spec"] = {"type": "ExternalName", "externalName": "localhost"}
            if document["kind"] == "APIService":
                document["spec"]["service"]["port"] = self.port
            here.append(document)
        self._plane.apply(*here)
        token = self._plane.kubectl(
            "-n", "rheostat", "create", "token", "rheostat-operator", "--duration=24h"
        ).strip()
        config = yaml.safe_load(self._plane.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": token}
        (self._plane.folder / "operator-kubeconfig").write_text(yaml.safe_dump(config))

    def start(self) -> None:
        """Start the process."""
        command = [sys.executable, "-m", "rheostat.cli", "operator", "run"]
        command += [f"--every={self._every_s}", f"--metrics=127.0.0.1:{self.port}"]
        command += ["--metrics-name=localhost", "--metrics-name=rheostat-operator.rheostat.svc"]
        self.process = subprocess.Popen(
            [*command, *self._extra],
            env=environment(
                KUBECONFIG=str(self._plane.folder / "operator-kubeconfig"),
                RHEOSTAT_TOKEN=TOKEN,
            ),
            stdout=self.log.open("ab"),
            stderr=subprocess.STDOUT,
        )

    def kill(self) -> None:
        """Kill the process, as when a node dies."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def cpu_s(self) -> float:
        """Return the CPU seconds that the process has used."""
        assert self.process
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Sizes(Actuator):
    """The actuator of a test's driver."""

    def __init__(self, driver: "Driver") -> None:
        self._driver = driver

    def capabilities(self) -> Capabilities:
        """Return the capabilities of the driver."""
        return self._driver.capabilities

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Change the size at once."""
        driver = self._driver
        if decision.target != driver.size and driver.capabilities.can_scale:
            driver.requested.append(decision.target)
            driver.size = decision.target
        return Rescaling(phase="steady")


class Driver(Sensor):
    """A driver's autoscaler with its control API, on a job whose size changes at once; it records
    every requested size. With ``hurry`` its clock runs faster by that factor, for a test whose
    writes would otherwise count as a conflict.
    """

    def __init__(
        self,
        size: int = 2,
        *,
        live: bool = True,
        token: str = TOKEN,
        at: tuple[str, int] = ("127.0.0.1", 0),
        hurry: float = 1.0,
    ) -> None:
        self._hurry, self._start_s = hurry, time.time()
        cannot = () if live else ("it is a test",)
        self.capabilities = Capabilities(can_scale=live, cannot=cannot)
        self.size, self.requested, self.drains = size, [], 0  # type: tuple[int, list[int], int]
        self.signals: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._loop = Loop(
            sensor=self,
            policy=Fixed(),
            guards=self._made_of(None)[1],
            actuator=Sizes(self),
            journal=MemoryJournal(),
        )
        self.control = ControlService(self, self._made_of, self._drain)
        self._server = Server(control_app(self.control, Access(token)), *at)
        self.port = int(self._server.address.rpartition(":")[2])
        self.tick()

    def _made_of(self, sizing: Any) -> Any:
        limits = (sizing and sizing.limits) or Limits(max_executors=8)
        return Fixed(), guards_of(limits, GuardOptions())

    def _drain(self) -> None:
        self.drains += 1

    def direct(self, policy: Any, guards: Any) -> None:
        """Apply the policy and the guards at once."""
        self._loop.direct(policy, guards)
        threading.Timer(0.02, self.tick).start()

    @property
    def halted(self) -> str:
        """Return what halts the decisions."""
        return self._loop.halted()

    def halt(self) -> None:
        """Do nothing."""

    def resume(self) -> None:
        """Do nothing."""

    def pause(self, cause: str) -> None:
        """Pause the decisions for a cause, or resume them."""
        self._loop.paused = cause

    def observe(self, now: float) -> Any:
        """Return the job's observation."""
        return (
            Observation(
                t_s=now,
                application=f"app-{self.port}",
                executors=self.size,
                slots_per_executor=1,
                target=self.size,
                **self.signals,
            ),
        )

    def tick(self) -> None:
        """Run a tick of the loop."""
        with self._lock:
            passed_s = (time.time() - self._start_s) * self._hurry
            self.control.see(self._loop.step(self._start_s + passed_s))

    def close(self) -> None:
        """Stop the control API."""
        self._server.close()

    def pod(self, plane: Plane, name: str) -> None:
        """Create the pod of this driver, as running on this computer."""
        run_pod(plane, name, {"app": name, "spark-role": "driver"})


def run_pod(plane: Plane, name: str, labels: dict[str, str], ip: str = "127.0.0.1") -> None:
    """Create a pod and report it as running."""
    place = "/api/v1/namespaces/default/pods"
    pod = {
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "c", "image": "none"}], "nodeName": "here"},
    }
    plane.request("POST", place, {"apiVersion": "v1", "kind": "Pod", **pod})
    say_running(plane, name, ip)


def say_running(plane: Plane, name: str, ip: str = "127.0.0.1") -> None:
    """Report a pod as running and ready."""
    at = f"/api/v1/namespaces/default/pods/{name}"
    read = plane.request("GET", at)
    read["status"] = {
        "phase": "Running",
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    plane.request("PUT", f"{at}/status", read)


def resource(name: str, port: int, **spec: Any) -> dict[str, Any]:
    """Return a resource for the driver ``name``."""
    spec.setdefault("driver", {"selector": {"app": name}, "controlPort": port})
    return {
        "apiVersion": "rheostat.dev/v1alpha1",
        "kind": "StreamingApplication",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def until(true: Any, what: str, wait_s: float = 60.0) -> float:
    """Wait until a condition is true, and return the seconds waited."""
    begun = time.monotonic()
    while time.monotonic() - begun < wait_s:
        if true():
            return time.monotonic() - begun
        time.sleep(0.02)
    raise AssertionError(f"not so after {wait_s:.0f} s: {what}")
