"""A ``StreamingApplication`` as a value, parsed from the resource with all errors at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rheostat.control.sizing import Sizing, sizing_of
from rheostat.errors import BadInput

GROUP, VERSION, PLURAL = "rheostat.dev", "v1alpha1", "streamingapplications"
KIND = "StreamingApplication"
CONTROL_PORT = 8085
SOURCES = ("selector", "sparkApplication", "template")
"""The three ways to select the driver; exactly one is required."""

_SIZING = ("mode", "paused", "slo", "policy", "parameters", "limits", "guards", "metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """The specification in a resource: its sizing, and its driver by ``labels`` or ``template``;
    ``secret`` names the Secret with the driver's own token and the certificates to trust.
    """

    name: str
    namespace: str
    uid: str = ""
    generation: int = 1
    sizing: Sizing = field(default_factory=Sizing)
    labels: Mapping[str, str] = field(default_factory=dict)
    template: Mapping[str, Any] | None = None
    control_port: int = CONTROL_PORT
    secret: str | None = None


def application_of(body: Mapping[str, Any]) -> Application:
    """Return the application of a resource; raises BadInput with all errors in one line."""
    meta, spec = body["metadata"], body.get("spec") or {}
    driver, wrong = spec.get("driver") or {}, []
    given = [source for source in SOURCES if driver.get(source)]
    if len(given) != 1:
        present = " and ".join(given) or "none"
        wrong.append(f"driver needs exactly one of {', '.join(SOURCES)}, but it has {present}")
    options = {name: spec[name] for name in _SIZING if spec.get(name) is not None}
    for group in ("guards", "metrics"):
        if isinstance(options.get(group), Mapping):
            options[group] = {snake(name): value for name, value in options[group].items()}
    options.setdefault("mode", "shadow")
    if spec.get("replicas") is not None and options["mode"] == "external":
        options["size"] = spec["replicas"]
    sizing = Sizing()
    try:
        sizing = sizing_of(options)
    except BadInput as error:
        wrong.append(str(error))
    if wrong:
        raise BadInput("; ".join(wrong))
    return Application(
        name=meta["name"],
        namespace=meta["namespace"],
        uid=meta.get("uid", ""),
        generation=meta.get("generation", 1),
        sizing=sizing,
        labels=_labels(meta["name"], driver),
        template=driver.get("template"),
        control_port=driver.get("controlPort", CONTROL_PORT),
        secret=driver.get("secret"),
    )


def _labels(name: str, driver: Mapping[str, Any]) -> Mapping[str, str]:
    if driver.get("template"):
        return own_labels(name)
    if driver.get("sparkApplication"):  # the label that Kubeflow's operator sets
        return {"sparkoperator.k8s.io/app-name": driver["sparkApplication"], **ROLE}
    return {**driver["selector"], **ROLE}


ROLE = {"spark-role": "driver"}
"""The label that Spark sets on every driver's pod in cluster mode."""


def own_labels(name: str) -> dict[str, str]:
    """Return the labels of the driver that the operator starts for the application ``name``."""
    return {f"{GROUP}/application": name, **ROLE}


def snake(name: str) -> str:
    """Convert ``stepOut`` to ``step_out``."""
    return re.sub(r"(?<!^)([A-Z])", lambda match: "_" + match[1].lower(), name)


def camel(name: str) -> str:
    """Convert ``step_out`` to ``stepOut``."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)
