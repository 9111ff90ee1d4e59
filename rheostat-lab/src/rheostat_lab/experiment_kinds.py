"""The kinds of experiments of ``rheostat lab run``: an explicit, sorted dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from rheostat.errors import BadInput
from rheostat_lab.experiment_file import values_of
from rheostat_lab.matrix import matrix_run
from rheostat_lab.varga import varga_run

Experiment: TypeAlias = Callable[[str, Path], dict[str, Any]]
"""Runs a specification under a name, with its results in a folder, and returns them."""

KINDS: Mapping[str, Callable[[Path, Mapping[str, Any]], Experiment]] = {
    "downtime": varga_run.prepared,
    "load-by-parallelism": varga_run.prepared,
    "load-by-size": varga_run.prepared,
    "matrix": matrix_run.prepared,
    "snapshot": varga_run.prepared,
}
"""Functions by the value of ``experiment:``; each checks a file's values and starts nothing."""


def prepared(path: Path, hours: float | None = None) -> Experiment:
    """Return the checked experiment of a file, with another limit of ``hours`` if it is given and
    the experiment has one; raises BadInput for an invalid file.
    """
    values = values_of(path)
    kind = values.get("experiment")
    if kind is None:
        raise BadInput(f"{path} must say experiment: {', '.join(KINDS)}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadInput(f"{path}: experiment must be one of {', '.join(KINDS)}, but it is {kind!r}")
    if hours is not None and kind == "matrix":
        values["hours"] = hours
    return KINDS[kind](path, values)
