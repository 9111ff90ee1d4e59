"""Files of a local disk without a process for each, as on a cluster's file system: for jobs of ours
on this computer.

Hadoop without its native library starts ``chmod`` twice for each file that it creates
(``RawLocalFileSystem.setPermission``, for the file and for its checksum): a hundred processes in a
batch of 24 state partitions.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.errors import RheostatError
from rheostat.kafka.jars import source_jars
from rheostat.local.spark_home import find_spark_home
from rheostat.machine import folders
from rheostat.machine.java_jar import build_jar

_log = logging.getLogger("rheostat")
SETTING = "spark.hadoop.fs.file.impl"
CLASS = "rheostat.LocalFiles"
_SOURCE = Path(__file__).parent / "java" / "LocalFiles.java"


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """What a session needs: ``jars`` on the class path of driver and executors, and ``settings``;
    both empty where there is no compiler.
    """

    jars: tuple[Path, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


def local_files() -> LocalFiles:
    """Return what makes files cheap, compiled at the first call; nothing, and a line in the log,
    where this computer has no compiler.

    Not for a session whose class paths others may set: without the class it starts no executor.
    """
    home = find_spark_home()
    try:
        jar = build_jar(
            [_SOURCE], CLASS, f"{home.folder / 'jars'}/*", home.jdk, folders.cache_folder() / "java"
        )
    except (RheostatError, OSError) as fault:
        _log.info("rheostat: each file of a local disk costs two processes: %s", fault)
        return LocalFiles()
    return LocalFiles((jar,), {SETTING: CLASS})


def class_path() -> tuple[Path, ...]:
    """Return the JARs of driver and executors beside Spark's own: those of the Kafka source, and
    ours.
    """
    return (*source_jars().paths, *local_files().jars)
