"""The size that Kubernetes' own HPA requests equals that of ``hpa``, ``varga-v1`` and ``varga-v2``
for the same recorded samples, which our server of ``external.metrics.k8s.io`` provides.
"""

# mypy: disallow-untyped-calls=False

import asyncio
import base64
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("kopf", reason="comes with the extra operator")
pytest.importorskip("kubernetes", reason="comes with the extra operator")

from tests.e2e.kubernetes_here import needs_kubernetes
from tests.e2e.operator_plane import GROUP, resource, run_pod, running_plane

from rheostat.control.driver_report import Report
from rheostat.machine.free_ports import free_port
from rheostat.model import Observation
from rheostat.operator.metrics_server import certificate, context, serve
from rheostat.operator.schema import definition
from rheostat.policies.rules.hpa import Hpa, parse_metrics
from rheostat.policies.rules.varga import VargaV1, VargaV2
from rheostat.replay.recording import packaged, read

pytestmark = [pytest.mark.e2e, pytest.mark.thorough, needs_kubernetes]
MOST = 8
PROPAGATION_S = 0.5
"""Seconds until the controller knows a pod's new status."""

KUBERNETES_S = 300
"""Seconds of Kubernetes' default stabilization window for scaling down."""

SAMPLES = 26
APPLICATIONS = 10
DEPLOY = Path(__file__).parents[2] / "deploy" / "hpa"


class Played:
    """An application whose metrics are recorded samples, one per decision of the HPA."""

    metrics = 2
    """How many metrics the HPA requests per decision, one after the other."""

    def __init__(self, name, policy, window_s, samples):
        self.name, self.policy, self.samples = name, policy, samples
        self.window_s = window_s
        self.windows: Any = {}
        self.looked: list[tuple[float, int, int, Any]] = []
        self.size = self.ready = 4
        self.current: dict[str, float] = {}
        self.requests = 0

    def look(self):
        """Return the next sample, and record the time and the size of the request."""
        sample = self.samples[len(self.looked) % len(self.samples)]
        if len(self.looked) % 9 == 5:  # a missing sample
            sample = Observation(t_s=sample.t_s)
        readings = self.readings(sample)
        self.looked.append((time.time(), self.size, self.ready, readings))
        self.current = {
            self.gauge(reading): read.value for reading, read in readings.items() if read
        }

    def readings(self, sample):
        """Return both metrics of Varga et al."""
        readings, kept = self.policy.readings(sample, self.windows)
        self.windows = kept if sample.executors else self.windows
        return readings

    def gauge(self, reading):
        """Return the name of a metric for the HPA."""
        suffix = "_calm" if isinstance(self.policy, VargaV2) else ""
        name = {"utilization": "utilization", "lag": "gated_lag_change"}[reading]
        return f"rheostat_{name}{suffix}"

    def decided(self):
        """Return the policy's sizes at the same times, and those of the HPA."""
        memory: Any = {}
        pairs = []
        for (at_s, size, ready, readings), after in zip(self.looked, self.looked[1:], strict=False):
            observation = Observation(t_s=at_s, executors=ready, target=size)
            decision, memory = self.decide(readings, observation, memory)
            pairs.append((max(1, min(MOST, decision.target)), after[1], size))
        return pairs

    def decide(self, readings, observation, memory):
        """Decide in real time, as the HPA does."""
        decides = VargaV1(down_window_s=float(self.window_s))
        return decides._hpa(readings, {}, observation, memory)

    def manifest(self):
        """Return the deployed HPA for this application."""
        kind = "varga-v2" if isinstance(self.policy, VargaV2) else "varga-v1"
        made = self.deployed(kind)
        made["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] = self.window_s
        return made

    def deployed(self, kind):
        """Return the repository's manifest of this name."""
        text = (DEPLOY / f"{kind}.yaml").read_text().replace("etl", self.name)
        made = yaml.safe_load(text)
        made["spec"]["maxReplicas"] = MOST
        return made


class PlayedHpa(Played):
    """The same for the policy ``hpa``: one metric; the manifest has no behavior if the window is
    Kubernetes' default."""

    metrics = 1

    def readings(self, sample):
        """Return the metric."""
        return {"busy": parse_metrics(self.policy.metrics)[0].reading(sample)}

    def gauge(self, reading):
        """Return the name of a metric for the HPA."""
        return f"rheostat_{reading}"

    def decide(self, readings, observation, memory):
        """Decide with the complete policy."""
        read = readings["busy"]
        decides = replace(
            self.policy,
            down_window_s=float(self.window_s),
            behavior="unset" if self.window_s == KUBERNETES_S else "set",
        )
        return decides.decide(replace(observation, busy=read.value if read else None), memory)

    def manifest(self):
        """Return the deployed HPA for this application."""
        made = self.deployed("hpa")
        if self.window_s != KUBERNETES_S:
            down = {"stabilizationWindowSeconds": self.window_s}
            made["spec"]["behavior"] = {"scaleDown": down}
        return made


class Played10:
    """All applications, and the server that the HPAs call."""

    def __init__(self, plane, applications):
        self.plane = plane
        self.applications = {application.name: application for application in applications}

    async def reports(self, namespace, name):
        """Answer a request; the HPA requests all metrics in sequence, and the first one begins a
        decision.

        It has read the size before, and counts the ready pods afterwards. So both must match its
        last request before the answer."""
        played = self.applications[name]
        if played.requests % played.metrics == 0:
            await asyncio.to_thread(self.follow, played)
            played.look()
        played.requests += 1
        return Report(age_s=0.0, metrics=played.current)

    def follow(self, played):
        """Make as many pods ready as the HPA has requested, and wait until it knows."""
        size = self.plane.request("GET", f"{GROUP}/{played.name}")["spec"]["replicas"]
        if size != played.size:
            played.size = size
            make_ready(self.plane, played)
            time.sleep(PROPAGATION_S)


def make_ready(plane, played):
    """Make as many pods ready as its size."""
    for number in range(MOST):
        at = f"/api/v1/namespaces/default/pods/{played.name}-{number}"
        read = plane.request("GET", at)
        want = "True" if number < played.size else "False"
        conditions = read["status"]["conditions"]
        if conditions[0]["status"] != want:
            conditions[0]["status"] = want
            plane.request("PUT", f"{at}/status", read)
    played.ready = played.size


def recorded():
    """Return recordings of the thesis in which lag, rates and sizes change."""
    return [
        [moment.observation for moment in next(iter(read(path).values()))]
        for path in sorted(packaged().values())
    ]


@pytest.mark.parametrize(
    ("played_as", "policy", "usual_s"),
    [
        (Played, VargaV1(), 480),
        (Played, VargaV2(), 480),
        (PlayedHpa, Hpa(metrics="busy 0.7"), KUBERNETES_S),
    ],
    ids=["varga-v1", "varga-v2", "hpa"],
)
def test_the_policy_matches_kubernetes_hpa(played_as, policy, usual_s, tmp_path):
    runs = recorded()
    applications = []
    for number in range(APPLICATIONS):
        run = runs[number % len(runs)]
        window_s = (usual_s, 12)[number % 2]
        begin = (17 * number) % max(1, len(run) - SAMPLES)
        samples = run[begin : begin + SAMPLES]
        applications.append(played_as(f"p{number}", policy, window_s, samples))
    with running_plane(tmp_path) as plane:
        played = Played10(plane, applications)
        port = free_port()
        begin_server(plane, played, port)
        for application in applications:
            begin_application(plane, application)
        plane.apply(*(application.manifest() for application in applications))
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            if all(len(application.looked) >= SAMPLES for application in applications):
                break
            time.sleep(0.5)
    pairs = [pair for application in applications for pair in application.decided()[: SAMPLES - 1]]
    unequal = [pair for pair in pairs if pair[0] != pair[1]]
    moved = sum(decided != size for decided, _, size in pairs)
    sys.stderr.write(
        f"{type(policy).__name__}: n={len(pairs)}, unequal {unequal}, changes of size {moved}\n"
    )
    assert len(pairs) >= 200
    assert not unequal
    assert moved >= 5


def begin_application(plane, played):
    made = resource(played.name, 1, mode="external", replicas=played.size)
    plane.apply(made)
    for number in range(MOST):
        run_pod(plane, f"{played.name}-{number}", {"of": played.name})
    make_ready(plane, played)
    at = f"{GROUP}/{played.name}"
    read = plane.request("GET", at)
    read["status"] = {"replicas": played.size, "selector": f"of={played.name}"}
    plane.request("PUT", f"{at}/status", read)


def begin_server(plane, played, port):
    """Start the server, and register it with the API server."""
    cert, key = certificate(plane.folder, ["localhost", "rheostat-operator.rheostat.svc"])
    tls = context(cert, key, (plane.folder / "front-ca.crt").read_text())
    loop = asyncio.new_event_loop()

    loop.run_until_complete(serve("127.0.0.1", port, tls, played.reports))
    threading.Thread(target=loop.run_forever, daemon=True).start()
    plane.apply(definition())
    plane.kubectl("wait", "--for=condition=Established", "crd", "--all")
    deploy = DEPLOY.parent / "operator"
    plane.kubectl("apply", "-f", str(deploy / "namespace.yaml"))
    service, api = yaml.safe_load_all((deploy / "metrics.yaml").read_text())
    service["spec"] = {"type": "ExternalName", "externalName": "localhost"}
    api["spec"]["service"]["port"] = port
    api["spec"]["caBundle"] = base64.b64encode(cert.read_bytes()).decode()
    plane.apply(service, api)
    plane.kubectl("wait", "--for=condition=Available", "apiservice", api["metadata"]["name"])
