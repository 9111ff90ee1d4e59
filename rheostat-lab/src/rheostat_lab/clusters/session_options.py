"""All static options of a session on a Standalone cluster of this computer, and its class path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rheostat.clusters.scaling_settings import (
    LINGER_S,
    Given,
    Wanted,
    allocation,
    beginning,
    leaving,
    merged,
)
from rheostat.clusters.standalone import Standalone
from rheostat.errors import BadInput
from rheostat.kafka.jars import source_jars
from rheostat.local.executor_options import local_settings
from rheostat.local.fast_local_files import local_files
from rheostat.local.local_session import DRIVER_OPTIONS, ERRORS_ONLY
from rheostat.model import Limits

DRIVER_FLAGS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""JVM flags for a driver that runs for minutes on cores that it shares with all executors, where
optimization does not pay off."""

_FLAGS = "spark.executor.extraJavaOptions"


def session_options(
    limits: Limits,
    initial: int | None = None,
    *,
    jars: Sequence[Path] = (),
    archive_flags: Sequence[str] = (),
    driver_memory_mib: int | None = None,
    quiet: bool = False,
    linger_s: float = LINGER_S,
    user: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return all static options of a scalable session on the local cluster.

    ``limits``, ``initial`` and ``linger_s`` are those of ``scaling_options``; ``jars`` are added to
    the class paths; ``quiet`` logs errors only; ``user`` options are kept or extended. The driver
    needs ``spark_home.driver_environment``. Raises ``BadInput`` as ``scaling_options`` does.
    """
    user = user or {}
    wanted = local_settings(jars=jars, archive_flags=archive_flags)
    wanted[_FLAGS] = replace(wanted[_FLAGS], joins=" ")
    if driver_memory_mib:
        wanted["spark.driver.memory"] = Wanted(f"{driver_memory_mib}m", "room for this driver")
    if quiet:
        wanted[DRIVER_OPTIONS] = Wanted(ERRORS_ONLY, "its log contains errors only", joins=" ")
    given = {name: Given(value, "the caller") for name, value in user.items()}
    options = {row.name: row.value for row in merged(wanted, given)}
    return {**options, **scaling_options(limits, initial, linger_s=linger_s, user=user)}


def scaling_options(
    limits: Limits,
    initial: int | None = None,
    *,
    linger_s: float = LINGER_S,
    user: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the options that let executors be added and removed (``scaling_settings``).

    ``initial`` defaults to the floor; ``linger_s`` is the minimum stay of a decommissioned executor
    in seconds. Raises ``BadInput`` if ``initial`` is outside the limits or the cores are not a
    number.
    """
    first = limits.min_executors if initial is None else initial
    if not limits.min_executors <= first <= limits.max_executors:
        raise BadInput(
            f"{first} initial executors are outside of the limits {limits.min_executors} to"
            f" {limits.max_executors}"
        )
    cores = (user or {}).get("spark.executor.cores", "1")
    if not cores.isdecimal() or int(cores) < 1:
        raise BadInput(f"spark.executor.cores must be a number from 1, but it is {cores!r}")
    wanted = {
        **Standalone().wanted(limits.max_executors, int(cores)),
        **beginning(first),
        **leaving(linger_s),
        **allocation(limits, first),
    }
    return {name: item.value for name, item in wanted.items()}


def class_path() -> tuple[Path, ...]:
    """Return the JARs of driver and executors: Spark's Kafka source and Rheostat's."""
    return (*source_jars().paths, *local_files().jars)
