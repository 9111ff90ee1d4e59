"""The custom resource definition: ``crd.yaml``, with the option groups of ``config.py``."""

from __future__ import annotations

from dataclasses import fields
from importlib.resources import files
from typing import Any

import yaml

from rheostat.config import GuardOptions, MetricOptions
from rheostat.operator.streaming_application import camel

_KINDS = {float: "number", int: "integer", bool: "boolean", str: "string"}


def definition() -> dict[str, Any]:
    """Return the CustomResourceDefinition of ``StreamingApplication``."""
    text = (files("rheostat.operator") / "crd.yaml").read_text(encoding="utf-8")
    resource: dict[str, Any] = yaml.safe_load(text)
    schema = resource["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec = schema["properties"]["spec"]["properties"]
    spec["guards"]["properties"] = _properties(GuardOptions)
    spec["metrics"]["properties"] = _properties(MetricOptions)
    return resource


def _properties(group: type) -> dict[str, Any]:
    """Return the options of a group: names in camel case, types, defaults and help."""
    return {
        camel(option.name): {
            "type": _KINDS[type(option.default)],
            "default": option.default,
            "description": option.metadata["help"][:1].upper() + option.metadata["help"][1:] + ".",
        }
        for option in fields(group)
    }
