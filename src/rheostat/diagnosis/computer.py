"""Checks which requirements of Rheostat this computer meets."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterator

from rheostat.errors import BadInput
from rheostat.kafka.jars import cache_folder
from rheostat.local.spark_home import find_spark_home
from rheostat.machine.ivy import complete_jars
from rheostat.machine.jdk import find_jdk
from rheostat.model import Finding

_EXTRAS = {
    "confluent_kafka": (
        "confluent-kafka",
        "the lag is read from the broker, also during a batch",
        "the lag is known only after each batch",
    ),
    "scipy": ("scipy", "simulations can be fitted", "simulations cannot be fitted"),
}


def machine_findings() -> Iterator[Finding]:
    """Yield one finding per requirement: whether it is met, and the consequence if not."""
    for topic, look in (("Java", _java), ("Spark", _spark), ("Kafka source", _kafka_source)):
        yield _checked(topic, look)
    for module, (name, with_it, without) in _EXTRAS.items():
        installed = importlib.util.find_spec(module) is not None
        line = (
            f"{name} {importlib.metadata.version(name)}: {with_it}"
            if installed
            else f"{name} is not installed: {without}"
        )
        yield Finding(topic=name, state="good" if installed else "idle", line=line)


def _checked(topic: str, look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except BadInput as missing:
        return Finding(topic=topic, state="idle", line=str(missing))


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
