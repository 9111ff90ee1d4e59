"""The actuator of a supervised job: requests another size, with which the supervisor restarts the
job.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rheostat.journal.control_channel import LOOP, ControlChannel, Order, RestartRequest
from rheostat.model import Capabilities, Decision, Memory, RepartitionState, Rescaling
from rheostat.ports import Actuator
from rheostat.spark.resizing.poll_thread import PollThread
from rheostat.spark.restarting.job_watch import JobWatch


class RestartActuator(Actuator):
    """Requests restarts through the ``channel``; ``order`` is the process's start order. ``notes``
    are stored for the next start.
    """

    def __init__(
        self,
        channel: ControlChannel,
        order: Order,
        watch: JobWatch,
        ended: Callable[[], bool],
        notes: Callable[[], Memory] = dict,
        registered: Callable[[], int] | None = None,
    ) -> None:
        self._registered = registered
        self._notes = notes
        self._channel = channel
        self._run, self._executors = order.run, order.executors
        self._thread = PollThread(watch.poll, watch.pause_s, ended)

    def capabilities(self) -> Capabilities:
        """Return that every change of size is a restart."""
        return Capabilities(can_scale=True, cannot=("the size is changed by restarts of the job",))

    def sizes(self, now: float) -> tuple[int | None, int | None] | None:
        """Return the number of working executors and the size of the last start."""
        return (self._registered(), self._executors) if self._registered else None

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Request a restart at the target, or withdraw the request if the target is in force."""
        return replace(self._request(decision, now), memory=self._notes())

    def _request(self, decision: Decision, now: float) -> Rescaling:
        target, actions = decision.target, decision.actions
        repartition = next((act for act in actions if isinstance(act, RepartitionState)), None)
        partitions = repartition.partitions if repartition else None
        if target == self._executors and partitions is None:
            self._channel.remove_request(LOOP)
            return Rescaling(phase="steady", detail=f"{target} executors since the last start")
        reason = "; ".join((decision.reason, *map(str, actions)))
        request = RestartRequest(
            t_s=now, reason=reason, executors=target, partitions=partitions, run=self._run
        )
        self._channel.write_request(LOOP, request)
        if target == self._executors:
            return Rescaling(phase="steady", detail=f"{partitions} state partitions are requested")
        phase = "growing" if target > self._executors else "shrinking"
        return Rescaling(phase=phase, detail=f"a restart with {target} executors is requested")

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Observe the job between the decisions, in a thread."""
        self._thread.start(tick)

    def hold(self) -> None:
        """Withdraw the requested restart; one that a person requested remains."""
        self._channel.remove_request(LOOP)

    def close(self) -> None:
        """Stop observing the job."""
        self._thread.stop()
