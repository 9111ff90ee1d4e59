"""The journal's events for a start of the autoscaler, and for the queries that it observes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rheostat.journal.starts import LIVE, RESTART, SHADOW, Checkpoints, Start
from rheostat.model import Capabilities
from rheostat.settings import Settings
from rheostat.storage.lease import this_process


def start_event(
    settings: Settings,
    application: str,
    capabilities: Capabilities,
    serve: str | None,
    launched: bool,
) -> Start:
    """Return the event of a start now; ``launched``: Rheostat started the application."""
    process = this_process()
    live = LIVE if capabilities.can_scale else SHADOW
    mode = RESTART if settings.restarts else live
    return Start(
        t_s=time.time(),
        mode=mode,
        policy=settings.policy_name,
        slo_s=settings.slo.latency_s,
        min_executors=settings.least_executors,
        max_executors=settings.limits.max_executors,
        limits_given=settings.limits_given,
        interval_s=settings.loop.interval_s,
        standby=settings.state.standby,
        application=application,
        host=process.host,
        pid=process.pid,
        process_started=process.started,
        serve=serve,
        kafka=str(settings.kafka["bootstrap.servers"]) if settings.kafka else None,
        price=settings.price or None,
        launched=launched,
        floor=str(settings.guards.floor),
        ceiling=str(settings.guards.ceiling),
    )


def directed_start(start: Start, settings: Settings, mode: str) -> Start:
    """Return the event of a change of settings through the control API, within the same process."""
    active_mode = LIVE if start.mode == SHADOW else start.mode
    return replace(
        start,
        t_s=time.time(),
        directed=True,
        mode=SHADOW if mode == SHADOW else active_mode,
        policy="external" if mode == "external" else settings.policy_name,
        slo_s=settings.slo.latency_s,
        min_executors=settings.least_executors,
        max_executors=settings.limits.max_executors,
        limits_given=settings.limits_given,
        floor=str(settings.guards.floor),
        ceiling=str(settings.guards.ceiling),
    )


@dataclass(eq=False)
class NotedCheckpoints:
    """The checkpoints of the running queries, each recorded in the journal once."""

    checkpoints: Callable[[], Sequence[str]]
    note: Callable[[Checkpoints], None]
    _known: frozenset[str] = frozenset()

    def __call__(self) -> Sequence[str]:
        """Return the checkpoints; raises OSError if the journal cannot be written."""
        running = self.checkpoints()
        new = tuple(sorted({*running} - self._known))
        if new:
            self.note(Checkpoints(t_s=time.time(), checkpoints=new))
            self._known |= {*new}
        return running
