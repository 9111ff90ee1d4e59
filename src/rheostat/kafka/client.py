"""Settings that every Kafka client of Rheostat shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
