"""JARs of a Kafka broker, fetched once with PySpark's Ivy."""

from __future__ import annotations

from pathlib import Path

from rheostat.kafka.jars import cache_folder
from rheostat.machine.ivy import cached_jars

KAFKA_VERSION = "4.2.0"

# slf4j-simple lets the broker report why it does not start.
_BROKER = f"""
    <dependency org="org.apache.kafka" name="kafka_2.13" rev="{KAFKA_VERSION}" conf="jars->default"/>
    <dependency org="org.apache.kafka" name="kafka-storage" rev="{KAFKA_VERSION}" conf="jars->default"/>
    <dependency org="org.slf4j" name="slf4j-simple" rev="1.7.36" conf="jars->default"/>"""  # noqa: E501


def broker_jars() -> tuple[Path, ...]:
    """Return a broker's JARs (45 MB), cached; raises ``BadInput`` without cache and network."""
    folder = cache_folder() / f"broker-{KAFKA_VERSION}"
    return cached_jars(folder, "the Kafka broker", _BROKER)
