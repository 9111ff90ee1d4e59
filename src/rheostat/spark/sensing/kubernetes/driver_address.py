"""Where pods look for the driver, and whether that can be: a pure function of the settings.

``spark.kubernetes.executor.useDriverPodIP`` (Spark 4.1, on by default from 4.3 on) makes executors
call ``spark.driver.bindAddress``, which ``SparkContext`` then takes as ``spark.driver.host``, too.
A driver outside of the cluster, or a server of Spark Connect, is usually bound to 0.0.0.0
(SPARK-58748).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import ip_address

from rheostat.spark.sensing.capabilities.query_shape import Finding

TOPIC = "the driver's address"
HOST, BOUND = "spark.driver.host", "spark.driver.bindAddress"
POD_IP, _ON_SINCE = "spark.kubernetes.executor.useDriverPodIP", (4, 3)


def unreachable(
    master: str, get: Callable[[str, str], str], spark_version: str
) -> Iterator[Finding]:
    """Yield what is wrong with the address at which pods call the driver; nothing where it may be
    right, or the master is no Kubernetes. ``get`` returns a setting, or its default.
    """
    if not master.startswith("k8s://"):
        return
    host = get(HOST, "")
    bound = get(BOUND, host)
    called, setting = (bound, BOUND) if _calls_bound(get, spark_version) else (host, HOST)
    if _is_any(called):
        also = "" if setting == HOST else f"{POD_IP}=false and "
        yield _idle(
            f"executors call the driver at {called} ({setting}), which is no address to call; add"
            f" {also}{HOST}=an address that pods reach"
        )
    elif _is_own(called):
        yield _idle(
            f"executors call the driver at {called} ({setting}), which in a pod is the pod itself;"
            f" add {setting}=an address that pods reach"
        )


def _calls_bound(get: Callable[[str, str], str], spark_version: str) -> bool:
    major, minor = (int(part) for part in spark_version.split(".")[:2])
    usual = "true" if (major, minor) >= _ON_SINCE else "false"
    # Before 4.1 nobody reads it.
    return (major, minor) >= (4, 1) and get(POD_IP, usual).strip().lower() == "true"


def _is_any(address: str) -> bool:
    try:
        return ip_address(address.strip("[]")).is_unspecified
    except ValueError:
        return False


def _is_own(address: str) -> bool:
    try:
        return ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return address == "localhost"


def _idle(line: str) -> Finding:
    return Finding(topic=TOPIC, state="idle", line=line)
