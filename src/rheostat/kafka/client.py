"""The configuration of a Kafka client: as a user names it, and what every client shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat.machine.properties_file import properties

_BROKERS = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}")

# Without a logger librdkafka writes a line to standard error at every failed connection, twenty
# times a second while a broker is away. A logger or an error callback would collect them in a queue
# that nobody empties; level 0 drops them. The wait before the first new attempt, 100 ms by default,
# sets the CPU time of a client without a broker: 9 ms a second, so 2.
_QUIET: Mapping[str, str] = {
    "log_level": "0",
    "reconnect.backoff.ms": "500",
    "reconnect.backoff.max.ms": "1000",
}


def settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return librdkafka settings that keep a client silent while its broker is away; what
    ``config`` says goes first.
    """
    # The user's settings last: who sets a log level wants to see something.
    return {**_QUIET, **config}


def client_config(given: str) -> dict[str, str]:
    """Return the configuration that is meant: ``host:port``, several with commas between them, or
    a file of properties with what SASL and TLS need, in the names of librdkafka.

    Raises BadInput for what is neither, and for a line that is not ``name=value``, with its number
    and without its content: there may be a password in it.
    """
    path = Path(given)
    # A file first: a name with a colon may be one.
    if path.is_file():
        return _of_file(path)
    if all(_BROKERS.fullmatch(part.strip()) for part in given.split(",")):
        return {"bootstrap.servers": given}
    raise BadInput(
        f"kafka takes host:port or a file of properties, but {given!r} is no host:port, and there"
        " is no such file"
    )


def _of_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "it is no text"
        raise BadInput(f"{path} cannot be read: {why}") from None
    config: dict[str, str] = {}
    for line in properties(text):
        if not line.value or not line.name:
            # The number only: the line may be a password that was broken over two lines.
            raise BadInput(f"line {line.line} of {path} is not name=value")
        if line.name in config:
            raise BadInput(f"line {line.line} of {path} sets {line.name} for the second time")
        config[line.name] = line.value
    # Taken from a Java client as a rule; librdkafka would only say that it does not know it.
    if "sasl.jaas.config" in config:
        raise BadInput(
            f"{path} has sasl.jaas.config, which only Java's clients read; write sasl.username and"
            " sasl.password"
        )
    if "bootstrap.servers" not in config:
        raise BadInput(f"{path} needs a line bootstrap.servers=host:port")
    return config
