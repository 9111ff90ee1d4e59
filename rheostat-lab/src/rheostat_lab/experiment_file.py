"""Reads an experiment from a YAML file: names and values, one of which names its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

import yaml

from rheostat.errors import BadInput

Spec = TypeVar("Spec")


class _Once(yaml.SafeLoader):
    """YAML in which no name occurs twice; by default the last value counts."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        names = [key.value for key, _ in node.value]
        if twice := [name for name in names if names.count(name) > 1]:
            raise yaml.MarkedYAMLError(
                problem=f"{twice[0]} occurs twice", problem_mark=node.start_mark
            )
        return dict(super().construct_mapping(node, deep))


def values_of(path: Path) -> dict[str, Any]:
    """Return the names and values of a file, lists as tuples; raises BadInput without any."""
    try:
        read = yaml.load(path.read_text(encoding="utf-8"), Loader=_Once)  # noqa: S506, it is safe
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput(f"{path} cannot be read as YAML: line {line}: {error.problem}") from None
    except (ValueError, yaml.YAMLError) as error:  # among them text that is not UTF-8
        raise BadInput(f"{path} cannot be read as YAML: {error}".splitlines()[0]) from None
    if not isinstance(read, dict):
        raise BadInput(f"{path} must have names and values, as experiment: downtime")
    return as_values(read)


def as_values(read: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return names and values with lists as tuples."""
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
