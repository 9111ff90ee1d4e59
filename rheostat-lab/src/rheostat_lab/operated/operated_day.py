"""A day of the demo that is sized through a StreamingApplication."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rheostat.errors import RheostatError
from rheostat.machine.free_ports import free_port
from rheostat.spark.handle import Handle
from rheostat_lab.clusters.cluster_kinds import LocalCluster
from rheostat_lab.clusters.cluster_logs import trouble
from rheostat_lab.clusters.kubernetes.control_plane import ControlPlane
from rheostat_lab.clusters.kubernetes.kubernetes_cluster import KubernetesCluster
from rheostat_lab.clusters.kubernetes.objects import create, delete, place
from rheostat_lab.demo.demo_environment import DemoEnvironment
from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.demo.live_view import View
from rheostat_lab.demo.played_day import PlayedDay
from rheostat_lab.operated.operator_process import OperatorProcess
from rheostat_lab.operated.sized_resource import (
    HPA,
    NAME,
    Shortened,
    autoscaler,
    driver_pod,
    resource,
)
from rheostat_lab.report.finished_run import Run

_DEADLINE_S = 120.0
_LOOK_S = 0.2


class OperatorDemoEnvironment(DemoEnvironment):
    """The demo's environment on Kubernetes, with operator and driver pod, until ``stack`` ends."""

    def __init__(self, demo: Demo, view: View, stack: ExitStack, shortened: Shortened) -> None:
        self.shortened = shortened
        super().__init__(demo, view, stack)
        view.step("deploying the operator")
        token = secrets.token_urlsafe(24)
        os.environ["RHEOSTAT_TOKEN"] = token
        stack.callback(os.environ.pop, "RHEOSTAT_TOKEN", None)
        self.operator = OperatorProcess(self.plane, token)
        self.operator.deploy()
        create(self.plane, driver_pod())
        self.until(lambda: self.get(resource(HPA, demo, 1, shortened), "") is not None, "served")
        stack.enter_context(self.operator)
        self.address = self.until(self._address, "the driver's pod runs")

    def _cluster(self) -> LocalCluster:
        self._kubernetes = KubernetesCluster(
            self.demo.most_slots, tell=self.view.note, hpa_s=self.shortened.hpa_s
        )
        return self._kubernetes

    @property
    def plane(self) -> ControlPlane:
        """The control plane."""
        return self._kubernetes.plane

    def get(self, made: Any, name: str) -> Any:
        """Return an object, or the list of its kind without a name; None if it does not exist."""
        try:
            return self.plane.request("GET", f"{place(made)}/{name}".rstrip("/"))
        except OSError:
            return None

    def until(self, true: Callable[[], Any], what: str) -> Any:
        """Return the value of ``true`` once it is truthy; raises RheostatError if the operator
        ends, or at the deadline.
        """
        end_s = time.monotonic() + _DEADLINE_S
        while time.monotonic() < end_s:
            value = true()
            if value:
                return value
            if self.operator.ended:
                break
            time.sleep(_LOOK_S)
        how = "the operator has ended" if self.operator.ended else f"not within {_DEADLINE_S:g} s"
        raise RheostatError(f"{what}: {how}: {trouble(self.operator.log)}")

    def _address(self) -> str | None:
        pod = self.get(driver_pod(), f"{NAME}-driver")
        address = (pod or {}).get("status", {}).get("podIP")
        return str(address) if address else None


class OperatedDay(PlayedDay):
    """One run of the day, with the sizing of one of the ``WAYS``."""

    def __init__(self, lab: OperatorDemoEnvironment, way: str, folder: Path) -> None:
        super().__init__(lab, way, folder, None)
        self._operated, self._way, self._port = lab, way, free_port()
        self.serve = f"{lab.address}:{self._port}"

    def _attach(self, start_s: float) -> Handle:
        """Attach, and let Kubernetes set the size; waits until the operator finds the driver."""
        handle = super()._attach(start_s)
        lab, demo = self._operated, self._operated.demo
        made = resource(self._way, demo, self._port, lab.shortened)
        create(lab.plane, made)
        lab.until(lambda: _ready(lab.get(made, NAME)), "the operator finds the driver")
        if self._way == HPA:
            create(lab.plane, autoscaler(demo, lab.shortened))
        return handle

    def play(self) -> Run:
        """Run everything, and delete the objects of the day."""
        lab, demo = self._operated, self._operated.demo
        try:
            return super().play()
        finally:
            if self._way == HPA:
                delete(lab.plane, autoscaler(demo, lab.shortened))
            delete(lab.plane, resource(self._way, demo, self._port, lab.shortened))


def _ready(kubernetes_object: Any) -> bool:
    conditions = ((kubernetes_object or {}).get("status") or {}).get("conditions", ())
    return any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )
