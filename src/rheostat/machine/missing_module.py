"""Advises how to install a missing Python module: the extra that contains it, and its origin."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

_DISTRIBUTIONS = {"google": "protobuf", "py4j": "pyspark", "yaml": "pyyaml"}
"""Modules whose distribution has a different name; py4j comes with PySpark."""

_OURS = ("rheostat", "rheostat_lab")
_OF_DEVELOPERS = ("test",)


@dataclass(frozen=True, slots=True)
class Installation:
    """The origin of the installation: a ``clone``, or pip's ``url``; and its ``requires``."""

    clone: Path | None = None
    url: str | None = None
    requires: Sequence[str] = ()

    @classmethod
    def here(cls) -> Installation:
        """Return the installation of this process."""
        tree = Path(__file__).absolute().parents[3]
        # Only a working copy has this file in this location; a wheel does not.
        clone = tree if (tree / "pyproject.toml").is_file() else None
        try:
            installed = distribution("rheostat")
        except PackageNotFoundError:
            return cls(clone)
        origin = installed.read_text("direct_url.json")
        return cls(clone, _url(json.loads(origin)) if origin else None, installed.requires or ())

    def command(self, extra: str) -> str:
        """Return the command that installs an extra into this installation."""
        if self.clone:
            return f"in {self.clone}: pip install -e '.[{extra}]'"
        if self.url and self.url.startswith("file://"):
            return f"pip install '{self.url.removeprefix('file://')}[{extra}]'"
        return f"pip install 'rheostat[{extra}]{f' @ {self.url}' if self.url else ''}'"

    def lab_advice(self) -> str:
        """Return the end of a sentence about features of ``rheostat-lab``: how to install it."""
        if self.clone:
            how = f"in {self.clone}: pip install -e rheostat-lab"
        elif self.url and not self.url.startswith("file://"):
            how = f"pip install 'rheostat-lab @ {self.url}#subdirectory=rheostat-lab'"
        else:
            how = "pip install rheostat-lab"
        return f"comes with the package rheostat-lab, {how}"

    def reinstall_command(self) -> str:
        """Return the command that reinstalls Rheostat."""
        if self.clone:
            return f"in {self.clone}: git status, then pip install -e ."
        what = "rheostat" if self.url is None else self.url.removeprefix("file://")
        return f"pip install --force-reinstall '{what}'"


def advice(module: str, here: Installation | None = None) -> str:
    """Return a line that names the missing ``module`` and the smallest extra that contains it."""
    installed = here or Installation.here()
    top = module.partition(".")[0]
    if top in _OURS:
        return (
            f"the file {module.replace('.', '/')} of Rheostat itself is missing: the installation"
            f" is damaged; install it again, {installed.reinstall_command()}"
        )
    wanted = _DISTRIBUTIONS.get(top, _normal(top))
    extras = extras_of(installed.requires)
    # Prefer the smallest extra, so that one module does not require a cluster's client.
    holding = sorted((len(those), name) for name, those in extras.items() if wanted in those)
    if not holding:
        return f"the Python module {module} is missing; install it with: pip install {wanted}"
    extra = holding[0][1]
    comes = f"comes with the extra {extra}"
    return f"the Python module {module} is missing; it {comes}, {installed.command(extra)}"


def extras_of(requires: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Return the distributions of each user-facing extra, from our package metadata."""
    extras: dict[str, set[str]] = {}
    for text in requires:
        extra = re.search(r"""extra\s*==\s*["']([^"']+)["']""", text)
        name = re.match(r"[A-Za-z0-9._-]+", text)
        if extra and name and extra[1] not in _OF_DEVELOPERS:
            extras.setdefault(extra[1], set()).add(_normal(name[0]))
    return {extra: frozenset(names) for extra, names in extras.items()}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _url(origin: Mapping[str, object]) -> str:
    """Return the requirement that pip accepts for a recorded origin (PEP 610)."""
    url, vcs = str(origin["url"]), origin.get("vcs_info")
    return f"{vcs['vcs']}+{url}@{vcs['commit_id']}" if isinstance(vcs, dict) else url
