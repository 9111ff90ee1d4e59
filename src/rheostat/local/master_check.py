"""Validates what a user's master requires beside it, before Spark starts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from rheostat.errors import BadInput

IMAGES = ("spark.kubernetes.container.image", "spark.kubernetes.executor.container.image")
_FOLDERS = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
_HERE = "a {0} on this computer: rheostat cluster up --kind {1}"


def check_master(
    master: str | None, environment: Mapping[str, str], given: Collection[str]
) -> None:
    """Raise ``BadInput`` where Spark could not find the cluster or make no executor there."""
    if master == "yarn":
        _check_yarn(environment)
    elif master and master.startswith("k8s://") and not set(IMAGES) & set(given):
        raise BadInput(
            f"{IMAGES[0]} is not set, so {master} cannot make executors; set it to an image with"
            f" your Spark and Python ({_HERE.format('Kubernetes', 'kubernetes')})"
        )


def _check_yarn(environment: Mapping[str, str]) -> None:
    named = {name: environment[name] for name in _FOLDERS if environment.get(name)}
    here = _HERE.format("YARN", "yarn")
    if not named:
        raise BadInput(
            "the master is yarn, but neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set; name the"
            f" folder with yarn-site.xml ({here})"
        )
    if not any((Path(folder) / "yarn-site.xml").is_file() for folder in named.values()):
        name, folder = next(iter(named.items()))
        raise BadInput(
            f"{name}={folder} holds no yarn-site.xml, so YARN cannot be found; name the folder that"
            f" does ({here})"
        )
