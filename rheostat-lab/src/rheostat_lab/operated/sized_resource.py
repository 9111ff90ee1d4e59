"""The objects of a day that Kubernetes sizes: the driver's pod, its resource, and its HPA."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import yaml

from rheostat_lab.demo.demo_options import Demo
from rheostat_lab.operated.operator_process import deploy_folder

NAME, NAMESPACE = "demo", "default"

HPA, OWN = "varga-v1", "rheostat"
WAYS = (HPA, OWN)
"""The sizing of a day: Kubernetes' HPA with the metrics of Varga et al., or our own policy."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """The HPA's settings that are shortened in proportion to the day.

    ``hpa_s``: seconds between two evaluations of the HPA (usually 15 s). ``window_s``: window of
    slope and mean rate (60 s). ``threshold_rows``: lag threshold (Koper: 50,000 at 100,000 rows/s;
    here two seconds of the peak). ``down_s``: stabilization before scaling in (480 s).
    """

    hpa_s: float = 5.0
    window_s: float = 15.0
    threshold_rows: float = 5000.0
    down_s: int = 30

    def in_words(self) -> str:
        """Return a description for the report."""
        return (
            f"the HPA looks every {self.hpa_s:g} s instead of 15 s; windows of {self.window_s:g} s"
            f" instead of 60 s; lag counts from {self.threshold_rows:,.0f} rows instead of 50,000;"
            f" {self.down_s} s of stabilization before scaling down instead of 480 s"
        )


def driver_pod() -> dict[str, Any]:
    """Return the pod with the driver's name and address; the driver is the demo's process."""
    words = [sys.executable, "-c", "import time; time.sleep(86400)"]
    container = {"name": "driver", "image": "rheostat/processes", "command": words}
    labels = {"app": NAME, "spark-role": "driver"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{NAME}-driver", "namespace": NAMESPACE, "labels": labels},
        "spec": {"containers": [container], "restartPolicy": "Never"},
    }


def resource(way: str, demo: Demo, port: int, shortened: Shortened) -> dict[str, Any]:
    """Return the StreamingApplication of a day, whose agent listens at ``port``."""
    limits = {"min": demo.min_executors, "max": demo.max_executors}
    spec: dict[str, Any] = {
        "limits": limits,
        "driver": {"selector": {"app": NAME}, "controlPort": port},
    }
    if way == HPA:
        metrics = {"lagThresholdRows": shortened.threshold_rows, "windowS": shortened.window_s}
        spec |= {"mode": "external", "metrics": metrics}
    else:
        spec |= {"mode": "policy", "policy": demo.policy, "slo": demo.slo.latency_s}
        spec |= {"parameters": dict(demo.policy_parameters)} if demo.policy_parameters else {}
    return {
        "apiVersion": "rheostat.dev/v1alpha1",
        "kind": "StreamingApplication",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
        "spec": spec,
    }


def autoscaler(demo: Demo, shortened: Shortened) -> dict[str, Any]:
    """Return the HPA of ``deploy/hpa/varga-v1.yaml`` for the demo's application."""
    text = (deploy_folder() / "hpa" / f"{HPA}.yaml").read_text().replace("etl", NAME)
    made: dict[str, Any] = yaml.safe_load(text)
    made["metadata"]["namespace"] = NAMESPACE
    made["spec"]["minReplicas"] = demo.min_executors
    made["spec"]["maxReplicas"] = demo.max_executors
    made["spec"]["behavior"]["scaleDown"]["stabilizationWindowSeconds"] = shortened.down_s
    return made
