"""The programs of a Kubernetes control plane, built once from the Go module proxy, without an image
registry or containers.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from rheostat.errors import BadInput, RheostatError
from rheostat.machine.process import Child
from rheostat.machine.scratch_folder import ScratchFolder, cache_folder
from rheostat_lab.clusters.cluster_logs import trouble

KUBERNETES = "1.34.1"
"""Some modules of 1.33.5 and 1.32.9 are not available from the proxy, or cannot be verified."""

ETCD = "3.6.5"
"""Older versions (3.4) end Spark's watches, because they lack ``RequestWatchProgress``."""

TAKES = (
    f"building Kubernetes {KUBERNETES}: about 8 minutes of two cores, 2 GB of memory and 300 MB in"
    " the cache, once"
)
_COMPONENTS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
PROGRAMS = ("etcd", *_COMPONENTS)
DEADLINE_S = 7200.0
_LOG = "build.log"

_TOOLS = """//go:build tools

package build

import (
{imports}
)
"""
_ETCD = """package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
"""


def programs_folder() -> Path:
    """Return the cache folder of the programs."""
    return cache_folder() / f"kubernetes-{KUBERNETES}-etcd-{ETCD}"


def are_built() -> bool:
    """Return whether all programs are in the cache."""
    return all((programs_folder() / name).exists() for name in PROGRAMS)


def build(tell: Callable[[str], None]) -> Path:
    """Return the folder of the programs, built at the first call; ``tell`` receives what is built
    and how long it takes.

    An interrupted build keeps what is finished. Raises BadInput without Go, and RheostatError with
    the compiler's error.
    """
    folder = programs_folder()
    missing = [name for name in PROGRAMS if not (folder / name).exists()]
    if not missing:
        return folder
    go = shutil.which("go")
    if go is None:
        raise BadInput(
            "Kubernetes is built with Go 1.24 or newer, but there is no go on the PATH; install one"
            " (https://go.dev/dl, or apt-get install golang)"
        )
    folder.mkdir(parents=True, exist_ok=True)
    tell(TAKES)
    with ScratchFolder("build", folder.parent) as scratch:
        for number, name in enumerate(missing, 1):
            tell(f"building {name} ({number} of {len(missing)})")
            build_one = _etcd if name == "etcd" else _component
            build_one(go, name, scratch).replace(folder / name)
    return folder


def _component(go: str, name: str, scratch: Path) -> Path:
    folder = scratch / "kubernetes"
    if not folder.exists():
        _prepare(go, folder)
    package = f"k8s.io/kubernetes/cmd/{name}"
    _run(folder, [go, "build", "-trimpath", "-ldflags", "-s -w", "-o", name, package])
    return folder / name


def _prepare(go: str, folder: Path) -> None:
    """Write a module that requires Kubernetes and its staging modules in the matching versions."""
    folder.mkdir()
    (folder / "go.mod").write_text("module build\n")
    module = f"k8s.io/kubernetes@v{KUBERNETES}"
    _run(folder, [go, "mod", "download", "-json", module], into="module.json")
    source = Path(json.loads((folder / "module.json").read_text())["Dir"])
    (folder / "go.mod").write_text(_module((source / "go.mod").read_text()))
    imports = "\n".join(f'\t_ "k8s.io/kubernetes/cmd/{name}"' for name in _COMPONENTS)
    (folder / "tools.go").write_text(_TOOLS.format(imports=imports))
    _run(folder, [go, "mod", "tidy", "-e"])


def _module(theirs: str) -> str:
    """Return the go.mod of a module that requires Kubernetes, derived from Kubernetes' go.mod."""
    version = re.search(r"^go \S+", theirs, re.MULTILINE)
    staged = re.findall(r"^\s*(k8s\.io/[a-z-]+) => \./staging", theirs, re.MULTILINE)
    release = f"v0.{KUBERNETES.partition('.')[2]}"
    lines = [
        "module build",
        version[0] if version else "",
        f"require k8s.io/kubernetes v{KUBERNETES}",
        *(f"replace {name} => {name} {release}" for name in staged),
    ]
    return "\n".join(lines) + "\n"


def _etcd(go: str, name: str, scratch: Path) -> Path:
    folder = scratch / name
    folder.mkdir()
    (folder / "go.mod").write_text("module build\n")
    (folder / "main.go").write_text(_ETCD)
    _run(folder, [go, "get", f"go.etcd.io/etcd/server/v3@v{ETCD}"])
    _run(folder, [go, "mod", "tidy"])
    _run(folder, [go, "build", "-trimpath", "-ldflags", "-s -w", "-o", name, "."])
    return folder / name


def _run(folder: Path, command: Sequence[str], into: str | None = None) -> None:
    """Run a command that ends with this process; its output goes to the log, or ``into`` a file."""
    log = folder / (into or _LOG)
    with Child(command, log=log, folder=folder) as child:
        code = child.wait(DEADLINE_S)
    if code != 0:
        how = "has not ended" if code is None else f"ended with {code}"
        raise RheostatError(f"{' '.join(command[:3])} {how}: {trouble(log)}")
