"""The static Spark options of a session on the local cluster, with small executors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rheostat.clusters.scaling_settings import Given, Wanted
from rheostat.errors import RheostatError
from rheostat.local.spark_home import find_spark_home
from rheostat.machine.free_ports import LOOPBACK
from rheostat.spark.warming.warm_start import WarmStart, prepare

OPTIONS_FILE = "executor.args"

_HEAP = "512m"
"""The default heap, so that there is room for an executor per core; Spark rejects 449 MiB."""

# Files that libraries unpack (RocksDB, LZ4) go to the executor's own folder, which is always
# removed. Eight executors share two cores: one garbage-collection thread, only the fast compiler,
# and a small initial heap.
EXECUTOR_FLAGS = (
    "-Xms128m",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:CICompilerCount=1",
    "-XX:ReservedCodeCacheSize=64m",
    "-XX:MaxMetaspaceSize=192m",
    "-XX:-UsePerfData",
    "-Djava.io.tmpdir=.",
)
_FLAGS = "spark.executor.extraJavaOptions"
LOG_SETTINGS = f"-Dlog4j2.configurationFile={(Path(__file__).parent / 'templates' / 'log4j2.properties').as_uri()}"  # noqa: E501
_CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")


def local_settings(
    given: Mapping[str, Given] | None = None,
    *,
    jars: Sequence[Path] = (),
    archive_flags: Sequence[str] = (),
) -> dict[str, Wanted]:
    """Return the additional settings of a local session; ``given`` are the user's settings."""
    here = "the cluster is on this computer"
    own_host = "spark.driver.host" in (given or {})
    flags = _flags([*EXECUTOR_FLAGS, LOG_SETTINGS, *archive_flags])
    return {
        "spark.driver.host": Wanted(LOOPBACK, here),
        **({} if own_host else {"spark.driver.bindAddress": Wanted(LOOPBACK, here)}),
        "spark.executor.memory": Wanted(_HEAP, "many executors share one computer"),
        "spark.ui.enabled": Wanted("true", "shadow mode and receivers need it"),
        "spark.ui.port": Wanted("0", "any free port"),
        "spark.ui.showConsoleProgress": Wanted("false", "it hides the script's own lines"),
        _FLAGS: Wanted(flags, "executors start fast and share one computer"),
        **{
            name: Wanted(":".join(map(str, jars)), "Spark's Kafka source", joins=":")
            for name in _CLASS_PATHS
            if jars
        },
    }


def _flags(flags: Iterable[str]) -> str:
    """Join JVM options; quote those with a space as Spark's command parser expects it."""
    return " ".join(f'"{flag}"' if " " in flag else flag for flag in flags)


def arrivals(
    application: str, folder: Path, jars: Sequence[Path] = ()
) -> tuple[WarmStart | None, str | None]:
    """Return the warm start of an application's executors, or None and the reason for cold starts.

    ``application`` identifies the classes to load; ``folder`` must outlive the executors; ``jars``
    are on their class path.
    """
    home = find_spark_home()
    try:
        return (
            prepare(
                application,
                home.folder / "jars",
                folder / OPTIONS_FILE,
                jars=jars,
                flags=EXECUTOR_FLAGS,
                jdk=home.jdk,
            ),
            None,
        )
    except (RheostatError, OSError) as fault:
        return None, f"executors start cold: {fault}"
