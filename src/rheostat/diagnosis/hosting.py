"""Reports what this computer allows, and what matters on the managed platform of a session.

Sources: ``docs/deploy/platforms.md``.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.kafka.jars import cache_folder
from rheostat.local.spark_home import find_spark_home
from rheostat.machine.ivy import complete_jars
from rheostat.machine.jdk import find_jdk
from rheostat.model import Finding

_PAGE = "docs/deploy/platforms.md"

_DYNAMIC = "spark.dynamicAllocation.enabled"
_OFF = f"{_DYNAMIC}=false"
_EXTRAS = {
    "confluent_kafka": (
        "confluent-kafka",
        "the lag is read from the broker, also during a batch",
        "the lag is known only after each batch",
    ),
    "scipy": ("scipy", "simulations can be fitted", "simulations cannot be fitted"),
}


@dataclass(frozen=True, slots=True)
class _Platform:
    name: str
    variables: tuple[str, ...]
    """Environment variables that its drivers have."""

    prefixes: tuple[str, ...]
    """Prefixes of setting names that its sessions have."""

    conflict: str
    """The platform's feature that conflicts with Rheostat."""

    setting: str | None = None


_PLATFORMS = (
    _Platform(
        "Databricks",
        ("DATABRICKS_RUNTIME_VERSION",),
        ("spark.databricks.clusterUsageTags.",),
        "cluster autoscaling removes workers by their idle time; give the cluster a fixed number of"
        " workers",
    ),
    _Platform(
        "Synapse or Fabric",
        ("AZURE_SERVICE",),
        ("spark.synapse.",),
        "pools can allocate executors dynamically (Fabric's starter pools do by default); switch it"
        " off for this job",
        _OFF,
    ),
    _Platform(
        "Dataproc",
        (),
        ("spark.dataproc.",),
        "an autoscaling policy does not support Structured Streaming; give the cluster none",
        _OFF,
    ),
    _Platform(
        "EMR",
        (),
        ("spark.emr.",),
        "dynamic allocation is on by default, and managed scaling sets the number of nodes by its"
        " own metrics",
        _OFF,
    ),
    _Platform(
        "Glue",
        ("GLUE_VERSION",),
        ("spark.glue.",),
        "auto scaling removes idle workers; switch it off for this job",
    ),
)


def platform_findings(
    settings: Mapping[str, str], environment: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Return two findings on the platform of a session: whether Rheostat was tested on it, and what
    conflicts; empty on other platforms.
    """
    for platform in _PLATFORMS:
        named = any(variable in environment for variable in platform.variables)
        if not named and not any(name.startswith(platform.prefixes) for name in settings):
            continue
        tried = f"Rheostat was not tried on it; begin in shadow mode ({_PAGE})"
        is_off = settings.get(_DYNAMIC, "").lower() == "false"
        setting = None if is_off else platform.setting
        return (
            Finding(topic=platform.name, state="idle", line=tried),
            Finding(topic=platform.name, state="advice", line=platform.conflict, setting=setting),
        )
    return ()


def machine_findings() -> Iterator[Finding]:
    """Yield one finding per requirement: whether it is met, and the consequence if not."""
    for topic, look in (("Java", _java), ("Spark", _spark), ("Kafka source", _kafka_source)):
        try:
            yield look()
        except BadInput as missing:
            yield Finding(topic=topic, state="idle", line=str(missing))
    for module, (name, with_it, without) in _EXTRAS.items():
        installed = importlib.util.find_spec(module) is not None
        line = (
            f"{name} {importlib.metadata.version(name)}: {with_it}"
            if installed
            else f"{name} is not installed: {without}"
        )
        yield Finding(topic=name, state="good" if installed else "idle", line=line)


def _java() -> Finding:
    jdk = find_jdk()
    if jdk.has_jcmd:
        return Finding(topic="Java", state="good", line=f"JDK {jdk.version} in {jdk.home}")
    line = (
        f"{jdk.home} is a JRE {jdk.version}: without jcmd no class archive can be created, and"
        " executors need about one CPU second more to start; install a JDK"
    )
    return Finding(topic="Java", state="idle", line=line)


def _spark() -> Finding:
    home = find_spark_home()
    return Finding(topic="Spark", state="good", line=f"PySpark {home.version}, Scala {home.scala}")


def _kafka_source() -> Finding:
    """Check the cache for Spark's Kafka source; nothing is downloaded."""
    home, topic = find_spark_home(), "Kafka source"
    if complete_jars(cache_folder() / f"source-{home.version}"):
        return Finding(topic=topic, state="good", line="its JARs are in the cache")
    return Finding(
        topic=topic,
        state="idle",
        line="its JARs are not in the cache; the first local run downloads them (15 MB)",
    )
