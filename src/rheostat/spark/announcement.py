"""The announcement of a starting autoscaler, visible also without a logging configuration."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rheostat.model import Capabilities
from rheostat.settings import Settings

_log = logging.getLogger("rheostat")
Line = tuple[int, str]
"""A line with its logging level."""


def announcement(
    settings: Settings,
    capabilities: Capabilities,
    journal: Path,
    stop_file: str,
    lag_known: bool = False,
    after_death: str = "",
    by_checkpoint: bool = True,
) -> list[Line]:
    """Return the lines: policy and limits, journal with its retention ``after_death`` of the driver
    and its kill switches (that of a checkpoint only if it is checked), limitations, and the source
    of the lag unless that is obvious.
    """
    halt = ", or rheostat halt CHECKPOINT" if by_checkpoint else ""
    standby = settings.state.standby
    lines = [
        (
            logging.INFO,
            f"rheostat {'autoscales' if capabilities.can_scale else 'observes'} this application:"
            f" {settings.summary}, a decision every {settings.loop.interval_s:g} s"
            f"{'' if settings.limits_given else '; limits= is not given'}"
            f"{f'; {standby} executors in standby' if standby else ''}",
        ),
        (
            logging.INFO,
            f"rheostat: journal {journal}{after_death}; to stop it: touch {journal / stop_file}, or"
            f" handle.stop(){halt}; the job then keeps its size",
        ),
        (logging.WARNING, f"rheostat: {'; '.join(capabilities.cannot)}"),
        None if lag_known else _of_lag(settings),
    ]
    return [line for line in lines if line and line[1] != "rheostat: "]


def beyond_ceiling(settings: Settings, registered: int) -> str | None:
    """Return a warning if the user's limits are below the registered executors, else None."""
    most = settings.limits.max_executors
    if not settings.limits_given or registered <= most:
        return None
    return (
        f"{registered} executors are registered and limits= allows {most}, so"
        f" {registered - most} will leave"
    )


def _of_lag(settings: Settings) -> Line | None:
    if settings.kafka is None:
        return (
            logging.INFO,
            "rheostat: no kafka= given: the lag is derived from completed batches of a Kafka"
            " source, and unknown for other sources (a policy that needs it then keeps the size)",
        )
    if find_spec("confluent_kafka") is None:
        return (
            logging.WARNING,
            "rheostat: confluent-kafka is not installed, so kafka= has no effect: the lag is"
            " derived from completed batches of a Kafka source",
        )
    return None


def log_lines(lines: Sequence[Line]) -> None:
    """Log the lines; without a logging configuration write them to standard error."""
    configured = _log.hasHandlers() or _log.level != logging.NOTSET
    for level, line in lines:
        if configured:
            _log.log(level, "%s", line)
        else:
            sys.stderr.write(f"{line}\n")


class BrokerLog:
    """Logs outages of the brokers; ``servers`` is their address."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._outage_s: float | None = None

    def changed(self, up: bool, now: float) -> None:
        """Log a change of the brokers' availability; an answer at the start is not a change."""
        if not up:
            self._outage_s = now
            log_lines([(logging.WARNING, _OUTAGE.format(servers=self._servers))])
        elif self._outage_s is not None:
            after = f"after {now - self._outage_s:.0f} s"
            log_lines([(logging.INFO, f"rheostat: Kafka at {self._servers} answers again {after}")])


_OUTAGE = (
    "rheostat: Kafka at {servers} (kafka=) does not answer: check the address, the network and the"
    " credentials; until it does, the backlog and the arrival rate are unknown and policies that"
    " need them keep the size"
)
