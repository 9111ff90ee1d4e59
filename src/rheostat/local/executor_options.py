"""The static Spark options of a session whose executors come and go: the one place that says what
cannot be set later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.machine.free_ports import LOOPBACK
from rheostat.model import Limits

NEVER = "1000000s"
LINGER_S = 5.0
"""Longer than most batches.

With Spark's own 1 s, six cycles 3 -> 1 of an aggregation failed 0 to 2 tasks each; with 5 s none.
"""

_LINGER = "spark.test.executor.decommission.initial.sleep.millis"
EXECUTOR_MEMORY_MIB = 512
"""Heap of an executor; Spark refuses less than 450."""

# Eight of them share two cores: one thread collects garbage, the quick compiler only, and a heap
# that starts small.
EXECUTOR_FLAGS = (
    "-Xms128m",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:CICompilerCount=1",
    "-XX:ReservedCodeCacheSize=64m",
    "-XX:MaxMetaspaceSize=192m",
    "-XX:-UsePerfData",
)
_FLAGS = "spark.executor.extraJavaOptions"
_DRIVER_FLAGS = "spark.driver.extraJavaOptions"
_LOG_SETTINGS = f"-Dlog4j2.configurationFile={(Path(__file__).parent / 'templates' / 'log4j2.properties').as_uri()}"  # noqa: E501
_CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")


def session_options(
    limits: Limits,
    initial: int | None = None,
    *,
    jars: Sequence[Path] = (),
    archive_flags: Sequence[str] = (),
    memory_mib: int = EXECUTOR_MEMORY_MIB,
    driver_memory_mib: int | None = None,
    quiet: bool = False,
    linger_s: float = LINGER_S,
    user: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return all static options of a scalable session on the local cluster, to be set before the
    session is built.

    ``limits`` and ``initial`` as in ``scaling_options``; ``jars`` go onto the class paths;
    ``archive_flags`` come from ``arrivals.arrivals``; ``quiet`` keeps the driver's log to errors;
    ``linger_s`` as in ``scaling_options``; ``user`` are the options the user has set: they are
    kept, class paths and JVM options are extended. The driver's environment
    (``spark_home.driver_environment``) belongs to it. Raises ``BadInput`` as ``scaling_options``
    does.
    """
    user = user or {}
    options = {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.executor.memory": f"{memory_mib}m",
        "spark.ui.enabled": "true",
        "spark.ui.port": "0",
        "spark.ui.showConsoleProgress": "false",
        **({"spark.driver.memory": f"{driver_memory_mib}m"} if driver_memory_mib else {}),
    }
    options = {name: user.get(name, value) for name, value in options.items()}
    options[_FLAGS] = _join(
        " ", map(_quoted, [*EXECUTOR_FLAGS, _LOG_SETTINGS, *archive_flags]), user.get(_FLAGS)
    )
    if quiet:
        options[_DRIVER_FLAGS] = _join(
            " ",
            map(_quoted, [_LOG_SETTINGS, "-Drheostat.log.level=error"]),
            user.get(_DRIVER_FLAGS),
        )
    if jars:
        options |= {name: _join(":", map(str, jars), user.get(name)) for name in _CLASS_PATHS}
    return {**options, **scaling_options(limits, initial, linger_s=linger_s, user=user)}


def scaling_options(
    limits: Limits,
    initial: int | None = None,
    *,
    linger_s: float = LINGER_S,
    user: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the options without which executors cannot come and go, on any cluster.

    ``initial`` defaults to the floor of ``limits``. Spark's dynamic allocation is on with time-outs
    that never end: only so does a Standalone application start with fewer executors than the
    cluster has room for, and then it never moves by itself. Its floor is the initial size because
    its target falls to the floor otherwise
    (``ExecutorAllocationManager.updateAndSyncNumExecutorsTarget``); what we ask for later is not
    bound by it. ``linger_s`` is how long an executor that was asked to leave stays at least: while
    a batch with a shuffle runs, its tasks still read what this executor has written. Raises
    ``BadInput`` if ``initial`` is out of the limits or the user's number of cores is no number.
    """
    user = user or {}
    first = limits.min_executors if initial is None else initial
    if not limits.min_executors <= first <= limits.max_executors:
        raise BadInput(
            f"{first} initial executors are outside of the limits {limits.min_executors} to"
            f" {limits.max_executors}"
        )
    cores = user.get("spark.executor.cores", "1")
    if not cores.isdecimal() or int(cores) < 1:
        raise BadInput(f"spark.executor.cores must be a number from 1, but it is {cores!r}")
    allocation = {
        "enabled": "true",
        "initialExecutors": str(first),
        "minExecutors": str(first),
        "maxExecutors": str(limits.max_executors),
        "shuffleTracking.enabled": "true",
        **dict.fromkeys(
            ("schedulerBacklogTimeout", "sustainedSchedulerBacklogTimeout", "executorIdleTimeout"),
            NEVER,
        ),
        **dict.fromkeys(("cachedExecutorIdleTimeout", "shuffleTracking.timeout"), NEVER),
    }
    return {
        "spark.executor.cores": cores,
        "spark.executor.instances": str(first),
        # The ceiling is Standalone's too: whatever goes wrong, the application gets no more.
        "spark.cores.max": str(limits.max_executors * int(cores)),
        # Migrating blocks keeps leaving executors alive for many batches, so only the executors are
        # decommissioned.
        "spark.decommission.enabled": "true",
        _LINGER: str(round(linger_s * 1000)),
        **{f"spark.dynamicAllocation.{name}": value for name, value in allocation.items()},
    }


def _quoted(flag: str) -> str:
    """Quote a JVM option with a space in it, as Spark's own command parser reads it."""
    return f'"{flag}"' if " " in flag else flag


def _join(separator: str, ours: Iterable[str], theirs: str | None) -> str:
    """Join both: theirs come last, where they win (JVM options) or follow (class paths)."""
    return separator.join([*ours, *([theirs] if theirs else [])])
