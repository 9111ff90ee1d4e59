"""Reads an experiment from a YAML file: names and values, one of which names its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from rheostat.errors import BadInput

Spec = TypeVar("Spec")


def values_of(path: Path) -> dict[str, Any]:
    """Return the names and values of a file, lists as tuples; raises BadInput without any."""
    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"{path} cannot be read as YAML: {error}".splitlines()[0]) from None
    if not isinstance(read, dict):
        raise BadInput(f"{path} must have names and values, as experiment: downtime")
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in read.items()
    }


def spec_of(kind: type[Spec], path: Path, values: Mapping[str, Any]) -> Spec:
    """Return the specification, a dataclass of the given kind; raises BadInput for unknown and
    missing names and for invalid values.
    """
    known = {option.name: option for option in fields(kind)}  # type: ignore[arg-type]
    if unknown := [name for name in values if name not in known]:
        raise BadInput(f"{path} has {unknown[0]!r}; it may have {', '.join(sorted(known))}")
    needed = [name for name, item in known.items() if item.default is MISSING]
    if missing := [name for name in needed if name not in values]:
        raise BadInput(f"{path} must say {missing[0]}")
    try:
        return kind(**values)
    except BadInput as refused:
        raise BadInput(f"{path}: {refused}") from None
