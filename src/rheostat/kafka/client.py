"""The configuration of a Kafka client: the user's settings, and the defaults of every client."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat.machine.properties_file import properties

_BROKERS = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}")

# Without a logger librdkafka writes a line to standard error at every failed connection, twenty
# times per second while a broker is down. A logger or an error callback would collect them in a
# queue that is never read; level 0 drops them. The wait before a new attempt (default 100 ms)
# determines the CPU time of a client without a broker: 9 ms per second, with these settings 2.
_QUIET: Mapping[str, str] = {
    "log_level": "0",
    "reconnect.backoff.ms": "500",
    "reconnect.backoff.max.ms": "1000",
}


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return librdkafka settings that log nothing without a broker; ``config`` takes precedence."""
    return {**_QUIET, **config}


def client_config(given: str) -> dict[str, str]:
    """Return the client configuration of ``host:port,...`` or a librdkafka properties file.

    Raises BadInput for anything else; messages contain line numbers, never content (passwords).
    """
    path = Path(given)
    # A file first, because a file name may contain a colon.
    if path.is_file():
        return _of_file(path)
    if all(_BROKERS.fullmatch(part.strip()) for part in given.split(",")):
        return {"bootstrap.servers": given}
    raise BadInput(
        f"kafka must be host:port or a properties file, but {given!r} is neither host:port nor an"
        " existing file"
    )


def check_client(config: object) -> None:
    """Raise BadInput for a value that is not a client configuration; librdkafka also checks its
    names and values if it is installed.
    """
    if not isinstance(config, Mapping):
        raise BadInput(
            "kafka= must be 'host:port' or a mapping with 'bootstrap.servers', but it is"
            f" {config!r}"
        )
    servers = config.get("bootstrap.servers")
    if servers is None:
        names = ", ".join(map(str, config)) or "nothing"
        raise BadInput(f"kafka= needs 'bootstrap.servers', but it has {names}")
    if not isinstance(servers, str) or not servers.strip():
        raise BadInput(f"kafka='s bootstrap.servers must be 'host:port', but it is {servers!r}")
    try:
        from rheostat.kafka.offsets import check
    except ImportError:
        return
    check(config)


def _of_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is not text"
        raise BadInput(f"{path} cannot be read: {why}") from None
    config: dict[str, str] = {}
    for line in properties(text):
        if not line.value or not line.name:
            # The number only: the line may be a password that was broken over two lines.
            raise BadInput(f"line {line.line} of {path} is not name=value")
        if line.name in config:
            raise BadInput(f"line {line.line} of {path} sets {line.name} for the second time")
        config[line.name] = line.value
    # Usually copied from a Java client; librdkafka would only report an unknown setting.
    if "sasl.jaas.config" in config:
        raise BadInput(
            f"{path} has sasl.jaas.config, which only Java clients support; use sasl.username and"
            " sasl.password"
        )
    if "bootstrap.servers" not in config:
        raise BadInput(f"{path} must have a line bootstrap.servers=host:port")
    return config
