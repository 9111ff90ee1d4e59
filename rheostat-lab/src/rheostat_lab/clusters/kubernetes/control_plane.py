"""The control plane of a local Kubernetes: etcd, API server, scheduler and controllers, on loopback
only, with tokens and roles.
"""

from __future__ import annotations

import json
import secrets
import ssl
import time
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from rheostat.errors import RheostatError
from rheostat.machine.free_ports import LOOPBACK, free_port
from rheostat.machine.process import Child
from rheostat_lab.clusters.cluster_logs import trouble
from rheostat_lab.clusters.kubernetes.plane_keys import aggregation_flags, make_keys

NAMESPACE = "default"
DRIVER = "spark"
"""The user name of a driver, which has only the rights of ``ROLE``."""

START_DEADLINE_S = 120.0
POLL_S = 0.2
_LOST_S = 20
"""Seconds without a heartbeat after which a node is lost; its pods are deleted ``_EVICTED_S``
later."""
_EVICTED_S = 10
HPA_S = 15.0
"""Seconds between two evaluations of the HorizontalPodAutoscaler: Kubernetes' default."""

RULES: Sequence[dict[str, list[str]]] = (
    {
        "apiGroups": [""],
        "resources": ["pods", "services", "configmaps", "persistentvolumeclaims"],
        "verbs": [
            "create",
            "get",
            "list",
            "watch",
            "update",
            "patch",
            "delete",
            "deletecollection",
        ],
    },
    {"apiGroups": [""], "resources": ["events"], "verbs": ["get", "list"]},
)
"""The rights of a driver with Rheostat: those that Spark needs, and reading the events of its pods,
which state why a pod is pending or was deleted."""

# Requests are audited only for drivers and people.
_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": [DRIVER]}, {"level": "None"}],
}


class ControlPlane:
    """The components of a control plane in ``folder``, with their programs in ``programs``; all end
    with this process. ``holds`` is as in ``Child``. The HPA controller evaluates every ``hpa_s``
    seconds.
    """

    def __init__(
        self, folder: Path, programs: Path, holds: Sequence[int] = (), hpa_s: float = HPA_S
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self._hpa_s = hpa_s
        self._programs = programs
        self._holds = holds
        self._children: list[Child] = []
        self._tokens = {name: secrets.token_urlsafe(24) for name in ("admin", DRIVER)}

    @property
    def url(self) -> str:
        """The URL of the API server."""
        return f"https://{LOOPBACK}:{self.port}"

    @property
    def certificate(self) -> Path:
        """The API server's certificate, which is also its own authority."""
        return self.folder / "certs" / "apiserver.crt"

    @property
    def kubeconfig(self) -> Path:
        """The configuration file for ``kubectl`` and other clients, with all rights."""
        return self.folder / "kubeconfig"

    @property
    def driver_token(self) -> str:
        """The token of a driver's user."""
        return self._tokens[DRIVER]

    @property
    def driver_token_file(self) -> Path:
        """The file with that token, for drivers that run in pods."""
        return self.folder / "driver-token"

    @property
    def admin_token_file(self) -> Path:
        """The file with the token of an administrator, who may submit drivers."""
        return self.folder / "admin-token"

    @property
    def alive(self) -> bool:
        """Whether all components run."""
        return bool(self._children) and all(child.alive for child in self._children)

    def start(self) -> None:
        """Start all components and wait until pods can be created."""
        make_keys(self.folder)
        tokens = (
            f'{self._tokens["admin"]},admin,1,"system:masters"\n{self.driver_token},{DRIVER},2\n'
        )
        (self.folder / "tokens.csv").write_text(tokens)
        self.driver_token_file.write_text(self.driver_token)
        self.admin_token_file.write_text(self._tokens["admin"])
        (self.folder / "audit.json").write_text(json.dumps(_AUDIT))
        etcd = f"http://{LOOPBACK}:{free_port()}"
        self._child("etcd", _etcd(etcd, f"http://{LOOPBACK}:{free_port()}"))
        self._child("kube-apiserver", self._api_server(etcd))
        self._wait("kube-apiserver", lambda: self._answers("/readyz"))
        self.kubeconfig.write_text(json.dumps(self._kubeconfig()))
        known = ["--kubeconfig", str(self.kubeconfig), "--leader-elect=false", "--secure-port=0"]
        self._child("kube-scheduler", known)
        self._child("kube-controller-manager", [*known, *_controllers(self._hpa_s)])
        self._allow_driver()
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
        self._wait("kube-controller-manager", lambda: self._answers(account))

    def stop(self) -> None:
        """End all components."""
        if self._children:
            with ThreadPoolExecutor(len(self._children)) as pool:
                list(pool.map(Child.stop, self._children))
        self._children = []

    def _child(self, name: str, words: Sequence[str]) -> None:
        self._children.append(
            Child(
                [self._programs / name, *words],
                log=self.folder / f"{name}.log",
                folder=self.folder,
                holds=self._holds,
            )
        )

    def _api_server(self, etcd: str) -> list[str]:
        return [
            f"--etcd-servers={etcd}",
            f"--secure-port={self.port}",
            f"--bind-address={LOOPBACK}",
            "--cert-dir=certs",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-signing-key-file=sa.key",
            "--service-account-key-file=sa.pub",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--token-auth-file=tokens.csv",
            "--enable-priority-and-fairness=false",
            "--audit-policy-file=audit.json",
            "--audit-log-path=audit.log",
            f"--default-not-ready-toleration-seconds={_EVICTED_S}",
            f"--default-unreachable-toleration-seconds={_EVICTED_S}",
            *aggregation_flags(),
        ]

    def _kubeconfig(self) -> dict[str, Any]:
        reached = {"server": self.url, "certificate-authority": str(self.certificate)}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "rheostat", "cluster": reached}],
            "users": [{"name": "admin", "user": {"token": self._tokens["admin"]}}],
            "contexts": [{"name": "rheostat", "context": {"cluster": "rheostat", "user": "admin"}}],
            "current-context": "rheostat",
        }

    def _allow_driver(self) -> None:
        """Create the role of a driver and bind it to the driver's user."""
        group = "rbac.authorization.k8s.io"
        place = f"/apis/{group}/v1/namespaces/{NAMESPACE}"
        named = {"metadata": {"name": DRIVER}}
        self.request("POST", f"{place}/roles", {**named, "rules": list(RULES)})
        binding = {
            **named,
            "subjects": [{"kind": "User", "name": DRIVER, "apiGroup": group}],
            "roleRef": {"kind": "Role", "name": DRIVER, "apiGroup": group},
        }
        self.request("POST", f"{place}/rolebindings", binding)

    def request(self, verb: str, path: str, body: Any = None) -> Any:
        """Send a request to the API server as an administrator and return its JSON response. Raises
        OSError if the server rejects it.
        """
        request = urllib.request.Request(  # noqa: S310  (its own https address)
            f"{self.url}{path}",
            method=verb,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._tokens['admin']}",
                "Content-Type": "application/json",
            },
        )
        trusted = ssl.create_default_context(cafile=str(self.certificate))
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted)
        )
        with opener.open(request, timeout=10) as answer:
            text = answer.read().decode()
        return json.loads(text) if text[:1] in ("{", "[") else text

    def _answers(self, path: str) -> bool:
        with suppress(OSError):
            self.request("GET", path)
            return True
        return False

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_DEADLINE_S
        while time.monotonic() < deadline and self.alive:
            if ready():
                return
            time.sleep(POLL_S)
        how = f"is not ready after {START_DEADLINE_S:.0f} s" if self.alive else "did not start"
        raise RheostatError(f"Kubernetes: {name} {how}: {trouble(self.folder / f'{name}.log')}")


def _etcd(clients: str, peers: str) -> list[str]:
    # The data end with the cluster, so nothing needs to reach the disk.
    return [
        "--data-dir=etcd",
        f"--listen-client-urls={clients}",
        f"--advertise-client-urls={clients}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--unsafe-no-fsync",
    ]


def _controllers(hpa_s: float) -> list[str]:
    return [
        f"--horizontal-pod-autoscaler-sync-period={hpa_s:g}s",
        "--service-account-private-key-file=sa.key",
        "--controllers=*",
        f"--node-monitor-grace-period={_LOST_S}s",
        "--node-monitor-period=2s",
    ]
