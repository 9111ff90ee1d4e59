"""The class archive of executors (application class data sharing): what a warm executor had loaded, mapped instead of read.

It is trained once per Java, Spark, class path, JVM options and query, and kept in the cache. Everything works without
it: an executor then costs about one CPU-second more.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput, RheostatError
from rheostat.lab.executor_options import EXECUTOR_FLAGS
from rheostat.lab.rate_query import start_rate_query
from rheostat.lab.spark_home import SparkHome, find_spark_home
from rheostat.machine.process import Child

TRAINING_DEADLINE_S = 180.0
# An archive that does not fit is passed over, and not one line of it in the executor's log.
_SILENT = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")
# Mapped where it was made for, its pages are shared by all executors and need no relocation.
_AT_ITS_ADDRESS = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")


@dataclass(frozen=True, slots=True)
class Archive:
    """Where the archive is, or one line that says why there is none."""

    path: Path | None
    note: str | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """The JVM options that make an executor use it; none if there is no archive."""
        return flags(self.path) if self.path else ()


def flags(path: Path) -> tuple[str, ...]:
    """Return the JVM options for an archive; where it is missing or does not fit, the JVM starts without it and says nothing."""
    return (f"-XX:SharedArchiveFile={path}", *_AT_ITS_ADDRESS, *_SILENT)


def archive_path(start: Callable[..., Any], jars: Sequence[Path] = (), home: SparkHome | None = None) -> Path:
    """Return where the archive of a query is kept: in ``rheostat/archives`` of XDG_CACHE_HOME, or of ``~/.cache``."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache.absolute() / "rheostat" / "archives" / f"{_key(home or find_spark_home(), _name(start), jars)}.jsa"


def find(start: Callable[..., Any] = start_rate_query, jars: Sequence[Path] = ()) -> Archive:
    """Return the archive that was trained on the query with these JARs on the class path, if it is in the cache."""
    path = archive_path(start, jars)
    return Archive(path) if path.exists() else Archive(None, "no class archive has been trained yet")


def prepare(
    start: Callable[..., Any] = start_rate_query,
    arguments: Mapping[str, str | int | float] | None = None,
    jars: Sequence[Path] = (),
    deadline_s: float = TRAINING_DEADLINE_S,
) -> Archive:
    """Return the archive for a query: the one in the cache, or one trained now in 20 to 60 seconds.

    ``start(spark, **arguments)`` starts the query on some data and returns its ``StreamingQuery``; it must be a function
    of a module, because the training runs in a process of its own, with a cluster of its own (a driver's JVM
    keeps its options for life). ``arguments`` are JSON values. Without a JDK (``jcmd``), or if the training fails, there is
    no archive and the note says why. Raises ``BadInput`` for a function without a module, and as ``find_spark_home`` does.
    """
    home = find_spark_home()
    path = archive_path(start, jars, home)
    if path.exists():
        return Archive(path)
    if not home.jdk.has_jcmd:
        return Archive(None, f"no class archive: {home.jdk.home} is a JRE; a JDK makes executors start faster")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial, log = path.with_suffix(f".{os.getpid()}.partial"), path.with_suffix(".log")
    request = {"query": _name(start), "arguments": dict(arguments or {}), "jars": list(map(str, jars)), "file": str(partial)}
    try:
        _train(request, log, deadline_s)
        partial.replace(path)
    except (RheostatError, OSError) as error:
        return Archive(None, f"no class archive: {error}")
    finally:
        partial.unlink(missing_ok=True)
    return Archive(path)


def _train(request: Mapping[str, Any], log: Path, deadline_s: float) -> None:
    """Run the training in a process of its own; raises ``RheostatError`` if it fails."""
    log.unlink(missing_ok=True)
    with Child([sys.executable, "-m", "rheostat.lab.archive_training", json.dumps(request)], log=log) as child:
        code = child.wait(deadline_s)
    if code is None:
        raise RheostatError(f"the training did not end within {deadline_s:.0f} s (see {log})")
    if code != 0:
        said = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        raise RheostatError(f"the training failed: {(said or ['it said nothing'])[-1].strip()[:200]} (see {log})")


def _name(start: Callable[..., Any]) -> str:
    module, function = start.__module__, start.__qualname__
    if module == "__main__" or "<" in function:
        raise BadInput(f"the query to train on must be a function of a module, but it is {module}:{function}")
    return f"{module}:{function}"


def _key(home: SparkHome, query: str, jars: Sequence[Path]) -> str:
    """Name all that an archive depends on: Java checks most of it itself, but then runs without the archive."""
    files = [home.jdk.home / "lib" / "modules", *sorted((home.folder / "jars").glob("*.jar")), *jars]
    stamps = [f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files if file.exists()]
    digest = hashlib.sha256("\n".join([*stamps, *EXECUTOR_FLAGS, query]).encode()).hexdigest()[:16]
    return f"java{home.jdk.version}-spark{home.version}-{digest}"
