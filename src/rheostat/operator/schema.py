"""The custom resource definition, generated from the option groups of ``config.py``."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rheostat.config import GuardOptions, MetricOptions
from rheostat.control.sizing import MODES
from rheostat.model import Limits
from rheostat.operator.streaming_application import (
    CONTROL_PORT,
    GROUP,
    KIND,
    PLURAL,
    SOURCES,
    VERSION,
    camel,
)

_KINDS = {float: "number", int: "integer", bool: "boolean", str: "string"}
_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition() -> dict[str, Any]:
    """Return the CustomResourceDefinition of ``StreamingApplication``."""
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _resource()},
        "subresources": {
            "status": {},
            "scale": {
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.selector",
            },
        },
        "additionalPrinterColumns": [
            _column("Mode", ".spec.mode"),
            _column("Paused", ".spec.paused", "boolean"),
            _column("Executors", ".status.replicas", "integer"),
            _column("Target", ".status.target", "integer"),
            _column("Phase", ".status.phase"),
            _column("Ready", '.status.conditions[?(@.type=="Ready")].status'),
            _column("Message", '.status.conditions[?(@.type=="Ready")].message'),
        ],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": KIND,
                "plural": PLURAL,
                "singular": KIND.lower(),
                "shortNames": ["streamapp"],
            },
            "versions": [version],
        },
    }


def _column(name: str, path: str, kind: str = "string") -> dict[str, str]:
    return {"name": name, "jsonPath": path, "type": kind}


def _resource() -> dict[str, Any]:
    return _object(
        "A Structured Streaming application whose number of executors Rheostat keeps right.",
        {"spec": _spec(), "status": dict(_OPEN)},
        required=["spec"],
    )


def _spec() -> dict[str, Any]:
    return _object(
        "How the application is sized, and which driver it is.",
        {
            "mode": {
                "type": "string",
                "enum": list(MODES),
                "default": "shadow",
                "description": "What sets the size: the scale sub-resource (external), a policy, or"
                " nothing (shadow: the policy only advises).",
            },
            "paused": {
                "type": "boolean",
                "default": False,
                "description": "Decide nothing while it is true: the query keeps running, and the"
                " application keeps its size.",
            },
            "replicas": {
                "type": "integer",
                "minimum": 1,
                "description": "Executors, as the scale sub-resource writes them; leave it out of"
                " manifests. Except in the mode external it follows the size in force.",
            },
            "limits": _limits(),
            "slo": {
                "type": "number",
                "exclusiveMinimum": True,
                "minimum": 0,
                "description": "Latency objective, seconds; default: the driver's own.",
            },
            "policy": {
                "type": "string",
                "minLength": 1,
                "description": "Policy by name, or module:Class of the driver's; default: the"
                " driver's own.",
            },
            "parameters": {**_OPEN, "description": "Parameters of that policy."},
            "guards": group_schema(GuardOptions, "Guards that are off by default."),
            "metrics": group_schema(MetricOptions, "Windows and threshold of the metrics."),
            "driver": _driver(),
        },
        required=["driver"],
        rules=[
            (
                "!has(self.parameters) || has(self.policy)",
                "parameters are those of a policy, but no policy is named",
            ),
            (
                "self.mode != 'external' || !has(self.policy)",
                "in the mode external no policy decides: leave policy out, or take another mode",
            ),
        ],
    )


def _limits() -> dict[str, Any]:
    usual = Limits()
    limits = _object(
        "Floor and ceiling of the number of executors.",
        {
            "min": {"type": "integer", "minimum": 1, "default": usual.min_executors},
            "max": {"type": "integer", "minimum": 1, "default": usual.max_executors},
        },
        rules=[("self.min <= self.max", "limits.min is above limits.max")],
    )
    return {**limits, "default": {"min": usual.min_executors, "max": usual.max_executors}}


def _driver() -> dict[str, Any]:
    one = " + ".join(f"(has(self.{source}) ? 1 : 0)" for source in SOURCES)
    return _object(
        "Which driver it is: exactly one of selector, sparkApplication, template.",
        {
            "selector": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "minProperties": 1,
                "description": "Labels of the driver's pod, which also has spark-role=driver.",
            },
            "sparkApplication": {
                "type": "string",
                "minLength": 1,
                "description": "Name of a SparkApplication of Kubeflow's operator.",
            },
            "template": {
                **_OPEN,
                "description": "The driver's pod (metadata, spec), started by the operator; its"
                " containers get RHEOSTAT_EXECUTORS.",
            },
            "secret": {
                "type": "string",
                "minLength": 1,
                "description": "Secret in this namespace: token, the driver's own token, and"
                " ca.crt, with which the operator speaks TLS and expects a certificate for"
                " NAME.NAMESPACE.svc.",
            },
            "controlPort": {
                "type": "integer",
                "minimum": 1,
                "maximum": 65535,
                "default": CONTROL_PORT,
                "description": "Port of the control API in the driver's pod.",
            },
        },
        rules=[(f"{one} == 1", "driver needs exactly one of " + ", ".join(SOURCES))],
    )


def group_schema(group: type, description: str) -> dict[str, Any]:
    """Return the schema of an option group: names in camel case, types, defaults and help."""
    known = {
        camel(option.name): {
            "type": _KINDS[type(option.default)],
            "default": option.default,
            "description": option.metadata["help"][:1].upper() + option.metadata["help"][1:] + ".",
        }
        for option in fields(group)
    }
    return _object(description, known)


def _object(
    description: str,
    properties: dict[str, Any],
    required: list[str] | None = None,
    rules: list[tuple[str, str]] | None = None,
) -> dict[str, Any]:
    checks = [{"rule": rule, "message": message} for rule, message in rules or ()]
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        **({"required": required} if required else {}),
        **({"x-kubernetes-validations": checks} if checks else {}),
    }
