"""The actuator of a supervised job: another size is wished for, and the supervisor restarts the job
with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rheostat.journal.control_channel import LOOP, ControlChannel, RestartRequest
from rheostat.model import Capabilities, Decision, Memory, Rescaling
from rheostat.protocols.partition_bound import WANTED
from rheostat.spark.resizing.look_thread import LookThread
from rheostat.spark.restarting.job_watch import JobWatch


class RestartActuator:
    """Asks for restarts by the ``mail``; ``executors`` is what the process of number ``run`` was
    started with. ``notes`` are remembered for the next start.
    """

    def __init__(
        self,
        channel: ControlChannel,
        run: int,
        executors: int,
        watch: JobWatch,
        ended: Callable[[], bool],
        notes: Callable[[], Memory] = dict,
    ) -> None:
        self._notes = notes
        self._channel = channel
        self._run = run
        self._executors = executors
        self._thread = LookThread(watch.look, watch.pause_s, ended)

    def capabilities(self) -> Capabilities:
        """Say that every change of size is a restart."""
        return Capabilities(can_scale=True, cannot=("the size is changed by restarts of the job",))

    def rescale(self, decision: Decision, now: float) -> Rescaling:
        """Wish for the target, or take the wish back where it is the size that stands."""
        return replace(self._request(decision, now), memory=self._notes())

    def _request(self, decision: Decision, now: float) -> Rescaling:
        target, partitions = decision.target, decision.evidence.get(WANTED)
        wanted = partitions if isinstance(partitions, int) else None
        if target == self._executors and wanted is None:
            self._channel.withdraw(LOOP)
            return Rescaling(phase="steady", detail=f"{target} executors since the last start")
        reason = "; ".join((decision.reason, *decision.actions))
        self._channel.leave(
            LOOP,
            RestartRequest(
                t_s=now, reason=reason, executors=target, partitions=wanted, run=self._run
            ),
        )
        if target == self._executors:
            return Rescaling(phase="steady", detail=f"{wanted} state partitions are wanted")
        phase = "growing" if target > self._executors else "shrinking"
        return Rescaling(phase=phase, detail=f"a restart with {target} executors is wanted")

    def resume(self, kept: Memory, now: float) -> None:
        """Resume nothing: the supervisor remembers."""

    def start(self, tick: Callable[[], None] = lambda: None) -> None:
        """Look after the job between the decisions, in a thread of its own."""
        self._thread.start(tick)

    def hold(self) -> None:
        """Withdraw the restart that is wanted; one that a person has ordered is still drained."""
        self._channel.withdraw(LOOP)

    def close(self) -> None:
        """Look no more."""
        self._thread.stop()
