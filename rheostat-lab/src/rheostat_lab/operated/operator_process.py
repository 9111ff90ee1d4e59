"""The operator as a process of this machine, with the rights of its own service account."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import rheostat
from rheostat.errors import BadInput
from rheostat.machine.free_ports import LOOPBACK, free_port
from rheostat.machine.process import Child
from rheostat_lab.clusters.kubernetes.control_plane import ControlPlane
from rheostat_lab.clusters.kubernetes.objects import create

NAMESPACE = "rheostat"
TOKEN_S = 86_400
_DEPLOYMENT = "deployment.yaml"


def deploy_folder() -> Path:
    """Return the repository's manifests; raises BadInput if they are not installed."""
    folder = Path(rheostat.__file__).resolve().parents[2] / "deploy"
    if not (folder / "operator" / "kustomization.yaml").exists():
        raise BadInput(
            f"the manifests of the operator are in the repository's folder deploy, and {folder} is"
            " not there; run this in a clone of the repository"
        )
    return folder


def manifests(port: int) -> list[dict[str, Any]]:
    """Return the objects of ``deploy/operator`` without the Deployment: the operator is a process
    here, so the service of its metrics leads to ``port`` of this machine.
    """
    folder = deploy_folder() / "operator"
    named = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
    made = []
    for file in (folder / name for name in named if name != _DEPLOYMENT):
        made += [manifest for manifest in yaml.safe_load_all(file.read_text()) if manifest]
    for entry in made:
        if entry["kind"] == "Service":
            entry["spec"] = {"type": "ExternalName", "externalName": "localhost"}
        if entry["kind"] == "APIService":
            entry["spec"]["service"]["port"] = port
    return made


class OperatorProcess:
    """An operator on a local control plane, which ends with this process. ``token`` authenticates
    it to agents; ``every_s`` is ``--every``; ``extra`` are further arguments.
    """

    def __init__(
        self, plane: ControlPlane, token: str, *, every_s: float = 1.0, extra: Sequence[str] = ()
    ) -> None:
        self._plane, self._token, self._every_s = plane, token, every_s
        self._extra = extra
        self.port = free_port()
        self.log = plane.folder / f"operator-{self.port}.log"
        self._child: Child | None = None

    def deploy(self) -> None:
        """Create the objects of the repository: definition, rights, service, APIService."""
        create(self._plane, *manifests(self.port))

    def start(self) -> OperatorProcess:
        """Start the operator with a token of its service account."""
        command = [sys.executable, "-m", "rheostat.cli", "operator", "run"]
        command += [f"--every={self._every_s:g}", f"--metrics={LOOPBACK}:{self.port}"]
        command += ["--metrics-name=localhost", "--metrics-name=rheostat-operator.rheostat.svc"]
        self._child = Child([*command, *self._extra], log=self.log, environment=self._environment())
        return self

    @property
    def pid(self) -> int:
        """The id of its process; 0 before the start."""
        return self._child.pid if self._child else 0

    @property
    def ended(self) -> bool:
        """Whether it was started and has ended by itself."""
        return self._child is not None and not self._child.alive

    def stop(self) -> None:
        """End the operator; all jobs continue."""
        if self._child:
            self._child.stop()

    def __enter__(self) -> OperatorProcess:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _environment(self) -> Mapping[str, str]:
        config = self._plane.folder / f"operator-{self.port}.kubeconfig"
        read = json.loads(self._plane.kubeconfig.read_text())
        read["users"][0]["user"] = {"token": self._account_token()}
        config.write_text(json.dumps(read))
        proxies = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy")
        return {
            **dict.fromkeys(proxies, ""),
            "KUBECONFIG": str(config),
            "RHEOSTAT_TOKEN": self._token,
        }

    def _account_token(self) -> str:
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/rheostat-operator/token"
        request = {"spec": {"expirationSeconds": TOKEN_S}}
        return str(self._plane.request("POST", account, request)["status"]["token"])
