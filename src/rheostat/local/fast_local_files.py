"""A fast local file system for Hadoop, which without its native library starts ``chmod`` twice per
file (``RawLocalFileSystem.setPermission``): a hundred processes per batch of 24 partitions.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.local.spark_home import find_spark_home
from rheostat.machine.java_jar import build_jar
from rheostat.machine.scratch_folder import cache_folder

_log = logging.getLogger("rheostat")
SETTING = "spark.hadoop.fs.file.impl"
CLASS = "rheostat.LocalFiles"
_SOURCE = Path(__file__).parent / "java" / "LocalFiles.java"


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """JARs and settings of a local session; both empty without a Java compiler."""

    jars: tuple[Path, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


def local_files() -> LocalFiles:
    """Return the compiled class and its settings; empty, with a log line, without a compiler.

    Use it only if Rheostat sets the class paths: without the class no executor starts.
    """
    home = find_spark_home()
    try:
        jar = build_jar(
            [_SOURCE], CLASS, f"{home.folder / 'jars'}/*", home.jdk, cache_folder() / "java"
        )
    except (RheostatError, OSError) as fault:
        _log.info("rheostat: each file of a local disk costs two processes: %s", fault)
        return LocalFiles()
    return LocalFiles((jar,), {SETTING: CLASS})
