"""What each cluster manager needs so that executors leave in order: one line a matter, with the
setting to add. A pure function of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rheostat.spark.sensing.capabilities.query_shape import Finding

TOPIC = "leaving in order"
_DECOMMISSION = "spark.decommission.enabled"
_BATCH, _DELAY = "spark.kubernetes.allocation.batch.size", "spark.kubernetes.allocation.batch.delay"
_TEMPLATE = "spark.kubernetes.executor.podTemplateFile"
_FAILURES, _BEARS = "spark.executor.maxNumFailures", 100
_EXCLUDE = "spark.excludeOnFailure.killExcludedExecutors.decommission"
_USUAL_BATCH = {"3": 5, "4": 10}
"""Pods that are asked for at a time, by Spark's major version."""


def leaving(
    master: str, get: Callable[[str, str], str], most: int, spark_version: str
) -> Iterator[Finding]:
    """Yield what is to be said for a master, for an application of at most ``most`` executors;
    ``get`` returns a setting, or its default.
    """
    graceful = get(_DECOMMISSION, "false").strip().lower() == "true"
    yield _graceful(graceful)
    if not master.startswith("spark://"):
        yield from _bearing(get)
    if master.startswith("k8s://"):
        yield from _kubernetes(get, graceful, most, spark_version)
    elif master == "yarn":
        yield from _yarn(get)


def _graceful(graceful: bool) -> Finding:
    if graceful:
        return _good("an executor that is to leave ends its tasks first")
    return _idle(
        f"executors leave only while idle between two batches; add {_DECOMMISSION}=true (before the"
        " start: it cannot be set live)"
    )


def _bearing(get: Callable[[str, str], str]) -> Iterator[Finding]:
    """Say where a few lost executors, or pods that a quota refuses, would end the application."""
    most = get(_FAILURES, "")
    if not most.isdecimal() or int(most) < _BEARS:
        initial = get("spark.executor.instances", "2")
        bears = most or max(3, 2 * (int(initial) if initial.isdecimal() else 2))
        yield _idle(
            f"Spark ends this application after {bears} failed executors in its life; add"
            f" {_FAILURES}={_BEARS} and spark.executor.failuresValidityInterval=10m"
        )


def _kubernetes(
    get: Callable[[str, str], str], graceful: bool, most: int, spark_version: str
) -> Iterator[Finding]:
    if graceful and not get(_TEMPLATE, ""):
        yield _good(
            "a pod that a person or a drained node deletes has Kubernetes' 30 s for its tasks; for"
            f" longer batches raise terminationGracePeriodSeconds in a template, and add"
            f" {_TEMPLATE}=FILE"
        )
    usual = str(_USUAL_BATCH.get(spark_version.partition(".")[0], 10))
    batch = get(_BATCH, usual)
    # One executor at least is there already, so a jump is of the others only.
    if batch.isdecimal() and 0 < int(batch) < most - 1:
        yield _idle(
            f"pods are asked for {batch} at a time, one batch every {get(_DELAY, '1s')} once the"
            f" last one has been seen; for a jump to {most} executors add {_BATCH}={most}"
        )


def _yarn(get: Callable[[str, str], str]) -> Iterator[Finding]:
    if get("spark.excludeOnFailure.enabled", "").strip().lower() == "true" and (
        get(_EXCLUDE, "false").strip().lower() != "true"
    ):
        yield _idle(
            "an executor that failed too often is killed with its tasks; add"
            f" {_EXCLUDE}=true, and it ends them first"
        )
    yield _good(
        "a NodeManager that is decommissioned gives its containers the time of YARN's"
        " yarn.resourcemanager.nodemanager-graceful-decommission-timeout-secs, which is the"
        " cluster's, not the application's"
    )


def _good(line: str) -> Finding:
    return Finding(topic=TOPIC, state="good", line=line)


def _idle(line: str) -> Finding:
    return Finding(topic=TOPIC, state="idle", line=line)
