"""Logs when the Kafka brokers of ``kafka=`` stop and start answering: one line a change."""

from __future__ import annotations

import logging

from rheostat.spark.announcement import log_lines


class BrokerLog:
    """Remembers since when the brokers have been away; ``servers`` is their address."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._away_s: float | None = None

    def changed(self, up: bool, now: float) -> None:
        """Log that the brokers answer or not; brokers that answer from the start are no news."""
        if not up:
            self._away_s = now
            log_lines([(logging.WARNING, _AWAY.format(servers=self._servers))])
        elif self._away_s is not None:
            after = f"after {now - self._away_s:.0f} s"
            log_lines([(logging.INFO, f"rheostat: Kafka at {self._servers} answers again {after}")])


_AWAY = (
    "rheostat: Kafka at {servers} (kafka=) does not answer: check the address, the network and the"
    " credentials; until it does, the backlog and the arrival rate are unknown and policies that"
    " need them keep the size"
)
