"""The configuration of a Kafka client as a user names it: a broker, or a file of properties."""

from __future__ import annotations

import re
from pathlib import Path

from rheostat.errors import BadInput
from rheostat.machine.properties_file import properties

_BROKERS = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}")


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
    found: dict[str, str] = {}
    for line in properties(text):
        if not line.value or not line.name:
            # The number only: the line may be a password that was broken over two lines.
            raise BadInput(f"line {line.line} of {path} is not name=value")
        if line.name in found:
            raise BadInput(f"line {line.line} of {path} sets {line.name} for the second time")
        found[line.name] = line.value
    # Taken from a Java client as a rule; librdkafka would only say that it does not know it.
    if "sasl.jaas.config" in found:
        raise BadInput(
            f"{path} has sasl.jaas.config, which only Java's clients read; write sasl.username and"
            " sasl.password"
        )
    if "bootstrap.servers" not in found:
        raise BadInput(f"{path} needs a line bootstrap.servers=host:port")
    return found
