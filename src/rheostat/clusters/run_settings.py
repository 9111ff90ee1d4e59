"""What ``rheostat run`` configures: a pure function of limits and the user's settings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rheostat.clusters import scaling_settings as scaling
from rheostat.clusters.registry import cluster_manager
from rheostat.clusters.scaling_settings import Given, Merged, Wanted, merged
from rheostat.model import Limits

_SERVICE = "spark.shuffle.service.enabled"
_SPARK_INSTANCES = 2
"""Spark's default number of executors on YARN and Kubernetes."""

_MIB = {"k": 1 / 1024, "": 1, "m": 1, "g": 1024, "t": 1024**2}


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings, the limits that the user's settings allow, and the messages about them.

    Each of ``lines`` reports one effect of the user's settings; each of ``forbidden`` what these
    prevent, which a running session reports itself. ``initial`` is the initial executor count.
    """

    rows: tuple[Merged, ...]
    limits: Limits
    lines: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    initial: int = 1

    @property
    def settings(self) -> dict[str, str]:
        """The settings to apply; they never replace one of the user's."""
        return {row.name: row.value for row in self.rows if row.sets}


def planned(
    limits: Limits,
    given: Mapping[str, Given],
    master: str,
    additional: Mapping[str, Wanted] | None = None,
    initial: int = 1,
) -> Plan:
    """Return the settings for an application on ``master`` that is to have ``limits`` executors.

    ``given`` are the user's settings. They stay unchanged, except that a wanted value with
    ``joins`` is put in front of the user's. ``additional`` are further wanted settings, and the
    only ones on a ``local`` master, which has no executors. ``initial`` is the initial executor
    count if the user has configured fewer.
    """
    additional = additional or {}
    if master.startswith("local") and not master.startswith("local-cluster"):
        return Plan(merged(additional, given), limits)
    manager = cluster_manager(master)
    cores = _count(given, scaling.CORES) or 1
    fitting, clamped = _fitting(limits, given, cores if manager.starts_with_all else None)
    initial = _initial(fitting, given, initial)
    moves, override = _allocation(fitting, initial, given, manager.starts_with_all)
    wanted = {
        **additional,
        **manager.wanted(fitting.max_executors, cores),
        **scaling.beginning(initial),
        **scaling.leaving(),
        **moves,
    }
    lines = (*clamped, *_too_many(fitting, given), *(override if moves else ()))
    forbidden = (*(() if moves else override), *_abrupt(given))
    return Plan(merged(wanted, given), fitting, lines, forbidden, initial)


def own_executors(limits: Limits, given: Mapping[str, Given], master: str) -> int | None:
    """Return how many executors Spark would have without Rheostat, by the user's own settings; None
    on a ``local`` master.

    With dynamic allocation this is its ceiling: a running session cannot restore its time-outs, and
    too few executors do more harm than too many.
    """
    if master.startswith("local") and not master.startswith("local-cluster"):
        return None
    names = (scaling.INITIAL, scaling.INSTANCES, scaling.LEAST)
    configured = max(_count(given, name) or 0 for name in names)
    if _is_yes(given, scaling.ENABLED):
        return max(_count(given, scaling.MOST) or limits.max_executors, configured)
    if cluster_manager(master).starts_with_all:
        total = _count(given, scaling.CORES_MAX)
        cores = _count(given, scaling.CORES) or 1
        return max(1, total // cores) if total else limits.max_executors
    return _count(given, scaling.INSTANCES) or _SPARK_INSTANCES


def executor_shape(given: Mapping[str, Given], least_mib: int) -> tuple[int, int]:
    """Return the configured cores and memory (MiB) of an executor; the defaults, for absent or
    unreadable settings, are 1 core and ``least_mib``, which is also the minimum memory.
    """
    memory = re.fullmatch(r"(\d+)([kmgt]?)b?", _value(given, "spark.executor.memory").lower())
    mib = math.ceil(int(memory[1]) * _MIB[memory[2]]) if memory else 0
    return _count(given, scaling.CORES) or 1, max(least_mib, mib)


def _fitting(
    limits: Limits, given: Mapping[str, Given], cores: int | None
) -> tuple[Limits, tuple[str, ...]]:
    """Return the limits that the user's settings allow, and a message if they differ; ``cores`` are
    the cores per executor if ``spark.cores.max`` bounds their sum (Standalone), else None.
    """
    ceilings = list(_ceilings(given, cores))
    room, why = min(ceilings, default=(limits.max_executors, ""))
    floor = max(limits.min_executors, _count(given, scaling.LEAST) or 1)
    most = max(1, min(limits.max_executors, room))
    fitting = Limits.between(min(floor, most), most)
    if fitting == limits:
        return limits, ()
    if room >= limits.max_executors:
        why = _override_text(scaling.LEAST, given)
    line = (
        f"{why}: {fitting.min_executors} to {fitting.max_executors} executors, not"
        f" {limits.min_executors} to {limits.max_executors}"
    )
    return fitting, (line,)


def _ceilings(given: Mapping[str, Given], cores: int | None) -> Iterator[tuple[int, str]]:
    total = _count(given, scaling.CORES_MAX)
    if total is not None and cores:
        room, override = total // cores, _override_text(scaling.CORES_MAX, given)
        yield room, f"{override} has room for {room} executors of {cores}"
    most = _count(given, scaling.MOST)
    if most is not None and not _is_off(given):
        yield most, _override_text(scaling.MOST, given)


def _initial(limits: Limits, given: Mapping[str, Given], least: int) -> int:
    """Return Spark's initial executor count: the user's or ``least``, within the limits."""
    own = [_count(given, name) or 0 for name in (scaling.INITIAL, scaling.INSTANCES)]
    return min(max(limits.min_executors, least, *own), limits.max_executors)


def _allocation(
    limits: Limits, initial: int, given: Mapping[str, Given], starts_with_all: bool
) -> tuple[dict[str, Wanted], tuple[str, ...]]:
    """Return the settings of dynamic allocation and messages about it; no settings if the user has
    switched it off or configured it to change the size itself.
    """
    timeouts = [name for name in scaling.MOVING if name in given]
    moving = [
        name for name in timeouts if scaling.duration_s(given[name].value) < scaling.FOREVER_S
    ]
    starts = ""
    if starts_with_all:
        starts = "; the application starts with its maximum number of executors"
    elif scaling.ENABLED not in given or _is_off(given):
        return {}, ()  # YARN and Kubernetes honour spark.executor.instances
    if _is_off(given):
        return {}, (f"{_override_text(scaling.ENABLED, given)}{starts}",)
    if moving and scaling.ENABLED in given:
        override = _override_text(moving[0], given)
        return {}, (f"{override}: Spark itself changes the size, Rheostat does not",)
    if _is_no(given, scaling.TRACKING) and not _is_yes(given, _SERVICE):
        moving = [*moving, scaling.TRACKING]
    if moving:
        return {}, (f"{_override_text(moving[0], given)}: dynamic allocation stays off{starts}",)
    wanted = scaling.allocation(limits, initial)
    least = _count(given, scaling.LEAST) or 0  # Spark rejects a floor above its ceiling
    if least > limits.max_executors:
        wanted[scaling.MOST] = replace(wanted[scaling.MOST], value=str(least))
    if scaling.ENABLED not in given:
        return wanted, ()
    override = _override_text(scaling.ENABLED, given)
    return wanted, (f"{override}: its time-outs are set to never, so that only Rheostat moves",)


def _too_many(limits: Limits, given: Mapping[str, Given]) -> Iterator[str]:
    for name in (scaling.INITIAL, scaling.INSTANCES):
        if (_count(given, name) or 0) > limits.max_executors:
            yield (
                f"{_override_text(name, given)} is above the ceiling of {limits.max_executors}"
                " executors, which holds as soon as the application is sized"
            )


def _abrupt(given: Mapping[str, Given]) -> Iterator[str]:
    if _is_no(given, scaling.DECOMMISSION):
        override = _override_text(scaling.DECOMMISSION, given)
        yield f"{override}: executors leave only while idle between two batches"


def _override_text(name: str, given: Mapping[str, Given]) -> str:
    return f"{name}={given[name].value} ({given[name].origin})"


def _count(given: Mapping[str, Given], name: str) -> int | None:
    value = _value(given, name)
    return int(value) if value.isdecimal() else None


def _value(given: Mapping[str, Given], name: str) -> str:
    return given[name].value.strip() if name in given else ""


def _is_off(given: Mapping[str, Given]) -> bool:
    return _is_no(given, scaling.ENABLED)


def _is_no(given: Mapping[str, Given], name: str) -> bool:
    return name in given and not _is_yes(given, name)


def _is_yes(given: Mapping[str, Given], name: str) -> bool:
    return _value(given, name).lower() == "true"
