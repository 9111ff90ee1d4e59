"""What the public settings of a session allow, determined before anything is tried."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from rheostat.clusters.registry import cluster_manager
from rheostat.clusters.scaling_settings import FOREVER_S, duration_s

_ELSEWHERE_AT_FIRST = 2


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Why an application cannot be scaled (``blocking``), or not well (``degrading``)."""

    blocking: tuple[str, ...] = ()
    degrading: tuple[str, ...] = ()


def obstacles(spark: Any) -> Obstacles:
    """Return the obstacles to live scaling, one line each."""
    if is_connect(spark):
        blocking = (
            "Spark Connect: a remote session shows no executors and changes none; its server sizes"
            " them where it is run by: rheostat connect-server"
        )
    elif is_local(spark):
        blocking = (
            f"master {spark.sparkContext.master} has no executors to scale; use a cluster, or:"
            " rheostat run --local 8 app.py"
        )
    elif allocates_dynamically(spark):  # two controllers would undo each other's changes
        blocking = (
            "Spark's own dynamic allocation is in effect: not scaling against it; turn"
            " spark.dynamicAllocation.enabled off"
        )
    elif is_on(spark, "spark.decommission.enabled"):
        return Obstacles()
    else:
        degrading = (
            "spark.decommission.enabled is off (it cannot be set live): executors leave only while"
            " idle between two batches"
        )
        return Obstacles(degrading=(degrading,))
    return Obstacles(blocking=(blocking,))


def observation_obstacles(spark: Any) -> tuple[str, ...]:
    """Return in one line why no public interface lists this session's executors, if so."""
    if is_connect(spark):
        why = "Spark Connect shows no executors"
    elif is_local(spark):
        why = f"master {spark.sparkContext.master} has no executors"
    elif spark.sparkContext.uiWebUrl is None:
        why = "spark.ui.enabled is off, so the executors cannot be counted"
    else:
        return ()
    return (f"{why}: batches are observed, but no size can be advised",)


def is_connect(spark: Any) -> bool:
    """Return whether this is a Spark Connect session."""
    return ".connect." in type(spark).__module__


def is_in_cluster(spark: Any) -> bool:
    """Return whether the driver runs on a node of the cluster (``--deploy-mode cluster``)."""
    return _setting(spark, "spark.submit.deployMode", "client") == "cluster"


def is_fair(spark: Any) -> bool:
    """Return whether jobs share the executors by the weights of their pools."""
    return _setting(spark, "spark.scheduler.mode", "FIFO").strip().upper() == "FAIR"


def is_local(spark: Any) -> bool:
    """Return whether all tasks run in the driver's process."""
    return bool(re.fullmatch(r"local(\[.*\])?", spark.sparkContext.master))


def allocates_dynamically(spark: Any) -> bool:
    """Return whether Spark's dynamic allocation would change the number of executors by itself.

    With time-outs of a day or more, dynamic allocation only sets the initial size on a Standalone
    cluster.
    """
    if not is_on(spark, "spark.dynamicAllocation.enabled"):
        return False
    limits = (
        duration_s(_setting(spark, f"spark.dynamicAllocation.{name}", default))
        for name, default in (("schedulerBacklogTimeout", "1s"), ("executorIdleTimeout", "60s"))
    )
    # Either time-out alone changes the size: one adds executors, the other removes them.
    return any(limit < FOREVER_S for limit in limits)


def initial_executors(spark: Any) -> int | None:
    """Return the number of executors that Spark requests at the start according to the settings;
    None if it requests all available ones.

    A Standalone cluster without dynamic allocation starts with all available executors because it
    ignores ``spark.executor.instances``; YARN and Kubernetes start with two by default
    (``SchedulerBackendUtils.getInitialTargetExecutorNumber``).
    """
    instances = _count(spark, "spark.executor.instances")
    if is_on(spark, "spark.dynamicAllocation.enabled"):
        starts = ("minExecutors", "initialExecutors")
        counts = [_count(spark, f"spark.dynamicAllocation.{name}") or 0 for name in starts]
        # Spark takes the largest of the three (Utils.getDynamicAllocationInitialExecutors).
        return max(*counts, instances or 0) or None
    if cluster_manager(spark.sparkContext.master).starts_with_all:
        return None
    return instances or _ELSEWHERE_AT_FIRST


def _count(spark: Any, name: str) -> int | None:
    value = _setting(spark, name, "")
    return int(value) if value.isdigit() and int(value) > 0 else None


def slots_per_executor(spark: Any) -> int:
    """Return an executor's cores divided by the CPUs of a task; 1 if the cores are not set."""
    cores = _setting(spark, "spark.executor.cores", "1")
    cpus = _setting(spark, "spark.task.cpus", "1")
    if not (cores.isdecimal() and cpus.isdecimal()) or int(cpus) == 0:
        return 1
    return max(1, int(cores) // int(cpus))


def application_id(spark: Any) -> str:
    """Return the name of the application's journal folder."""
    return "connect" if is_connect(spark) else str(spark.sparkContext.applicationId)


def configuration(spark: Any, prefix: str) -> dict[str, str]:
    """Return the settings of a session and its application that begin with ``prefix``."""
    if isinstance(spark, type):
        return {}
    context: Any = None if is_connect(spark) else getattr(spark, "sparkContext", None)
    application = dict(context.getConf().getAll()) if hasattr(context, "getConf") else {}
    both = {**application, **_of_session(spark, prefix)}
    return {name: value for name, value in both.items() if name.startswith(prefix)}


def _of_session(spark: Any, prefix: str) -> dict[str, str]:
    conf = getattr(spark, "conf", None)
    settings = getattr(conf, "getAll", None)  # PySpark 4.0 and later
    if isinstance(settings, dict):
        return settings
    if conf is None or not hasattr(spark, "sql"):  # a StreamingContext
        return {}
    # PySpark 3.5 lists its settings only through SQL, which redacts secret values.
    names = [str(row[0]) for row in spark.sql("SET").collect()]
    return {name: conf.get(name) for name in names if name.startswith(prefix)}


def _setting(spark: Any, name: str, default: str) -> str:
    return str(spark.sparkContext.getConf().get(name, default))


def locality_wait_s(spark: Any) -> float:
    """Return the seconds that a task waits for its preferred executor."""
    return duration_s(
        _setting(spark, "spark.locality.wait.process", _setting(spark, "spark.locality.wait", "3s"))
    )


def is_on(spark: Any, name: str) -> bool:
    """Return whether a switch that is off by default is on; Spark ignores case, too."""
    return _setting(spark, name, "false").strip().lower() == "true"
