"""Autoscales a StreamingContext (``pyspark.streaming``, deprecated since Spark 3.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from rheostat.capacity.receiver_cores import SPARE_CORES, cores_needed, executors_holding
from rheostat.errors import BadInput
from rheostat.model import Capabilities, Limits
from rheostat.ports import Actuator
from rheostat.settings import Settings
from rheostat.spark.application_start import Parts
from rheostat.spark.handle import Handle
from rheostat.spark.internals.gateway import Gateway, has_ended
from rheostat.spark.internals.internals import internals_of
from rheostat.spark.internals.receiver_tracker import DStreams
from rheostat.spark.journaling.journals import open_journal
from rheostat.spark.receivers.dstreams_actuator import DStreamsActuator
from rheostat.spark.receivers.dstreams_sensor import ANSWER_S, DStreamsSensor, read_interval
from rheostat.spark.resizing.actuator import LiveSize, NoopActuator
from rheostat.spark.sensing.capabilities import (
    allocates_dynamically,
    application_id,
    initial_executors,
    is_on,
    observation_obstacles,
    obstacles,
    slots_per_executor,
)
from rheostat.spark.sensing.rest import ExecutorsEndpoint, Rest

OWN = "spark.streaming.dynamicAllocation.enabled"
LOG = "spark.streaming.receiver.writeAheadLog.enable"
_ONCE = {"SocketInputDStream": "socket text", "RawInputDStream": "raw socket"}
"""Streams whose sender sends once, with their names in messages."""

DEFAULT_POLICY = "spark-batch-ratio"
"""The policy of SPARK-12133, which was written for StreamingContexts."""

_DEPRECATED = (
    "pyspark.streaming is deprecated since Spark 3.4: for new jobs use Structured Streaming"
)


def is_streaming_context(given: Any) -> bool:
    """Return whether this is a StreamingContext of ``pyspark.streaming``, which may be absent."""
    kind = type(given)
    return kind.__module__.startswith("pyspark.streaming") and kind.__name__ == "StreamingContext"


def refuse_two_managers(streaming: Any) -> None:
    """Raise BadInput if Spark would also change the number of executors."""
    if is_on(streaming, OWN):
        raise BadInput(
            f"Spark's own manager is on ({OWN}): only one can size this application; turn it off,"
            " or do not attach"
        )
    if allocates_dynamically(streaming):
        raise BadInput(
            "Spark's own dynamic allocation is in effect, and in a stream no executor is ever idle:"
            " turn spark.dynamicAllocation.enabled off"
        )


def refuse_too_few_cores(receivers: int, limits: Limits, cores: int) -> None:
    """Raise BadInput if the maximum leaves no core for the batches, which would never run."""
    most = limits.max_executors * cores
    if receivers and most < receivers + SPARE_CORES:
        raise BadInput(
            f"{cores_needed(receivers)}, but {limits.max_executors} executors of"
            f" {cores} have {most}: raise limits= or spark.executor.cores"
        )


def unreplayable(streaming: Any, streams: Sequence[str]) -> str | None:
    """Return a warning about sources that cannot replay; None if all data are kept."""
    once = Counter(_ONCE[stream] for stream in streams if stream in _ONCE)
    if not once or is_on(streaming, LOG):
        return None
    named = ", ".join(f"{count} {kind}" for kind, count in once.items())
    return (
        f"sources that cannot be replayed ({named} streams, {LOG} is off): what an executor holds"
        " when it dies is lost, and what is sent while a receiver moves"
    )


def check(streaming: Any) -> None:
    """Raise BadInput for a stopped context, which cannot be started again."""
    if has_ended(streaming) or DStreams(Gateway(streaming), streaming).state() == "STOPPED":
        raise BadInput("this StreamingContext has been stopped; attach to one that runs")


def observing_handle(streaming: Any, settings: Settings) -> Handle:
    """Return the handle that observes a StreamingContext through public interfaces, and advises."""
    rest = _rest(streaming)
    batch_s, count = partial(read_interval, rest), ExecutorsEndpoint(rest).count
    watched = ("shadow mode: nothing is changed", *observation_obstacles(streaming), _DEPRECATED)
    return Parts(
        settings=settings,
        sensor=DStreamsSensor(
            rest,
            application_id(streaming),
            slots_per_executor(streaming),
            batch_s,
            lambda: True,
            count,
        ),
        journaling=open_journal(streaming, settings, None),
        ended=partial(has_ended, streaming),
    ).handle(NoopActuator(Capabilities(can_scale=False, cannot=watched)))


def scaling_handle(streaming: Any, settings: Settings) -> Handle:
    """Return the handle that autoscales a StreamingContext; raises BadInput if impossible."""
    refuse_two_managers(streaming)
    internals = internals_of(streaming)
    dstreams = DStreams(internals.gateway, streaming)
    streams, cores = dstreams.receiver_streams(), slots_per_executor(streaming)
    refuse_too_few_cores(len(streams), settings.limits, cores)
    limitations = obstacles(streaming)
    size = LiveSize(internals.executors, initial_executors(streaming))
    actuator: Actuator
    if limitations.blocking or not internals.executors.can_request:
        missing = limitations.blocking or ("this Spark has no calls to change the executors",)
        actuator = NoopActuator(Capabilities(can_scale=False, cannot=(*missing, _DEPRECATED)), size)
    else:
        moves = settings.state.placement != "off" and dstreams.can_move()
        cannot = [*limitations.degrading, *_notes(streaming, settings, streams, cores, moves)]
        actuator = DStreamsActuator(
            internals.executors,
            dstreams,
            Capabilities(can_scale=True, cannot=tuple(cannot)),
            size,
            application_id(streaming),
            cores,
            moves,
        )
    return Parts(
        settings=settings,
        sensor=DStreamsSensor(
            _rest(streaming),
            application_id(streaming),
            cores,
            dstreams.batch_s,
            lambda: dstreams.state() == "ACTIVE",
        ),
        journaling=open_journal(streaming, settings, None),
        ended=lambda: internals.gateway.stopped() or dstreams.state() == "STOPPED",
    ).handle(actuator)


def _notes(
    streaming: Any, settings: Settings, streams: tuple[str, ...], cores: int, moves: bool
) -> list[str]:
    """Return the notes for the user about these receivers, one line each."""
    lines = [_DEPRECATED]
    if streaming.sparkContext.uiWebUrl is None:
        lines.append("spark.ui.enabled is off: no batch is observable, and the size is kept")
    lost = unreplayable(streaming, streams)
    lines += [lost] if lost else []
    if streams and not moves:
        lines.append("receivers stay where they are, and executors that hold one stay (version 1)")
    floor = executors_holding(len(streams), cores)
    if streams and floor > settings.limits.min_executors:
        lines.append(f"{cores_needed(len(streams))}: never fewer than {floor} executors")
    return lines


def _rest(streaming: Any) -> Rest:
    context = streaming.sparkContext
    return Rest(context.uiWebUrl, context.applicationId, ANSWER_S)
