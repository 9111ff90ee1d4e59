"""Detects what a StreamingContext does not support, from its settings and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rheostat.capacity.receiver_cores import SPARE_CORES, cores_needed
from rheostat.errors import BadInput
from rheostat.model import Limits
from rheostat.spark.sensing.capabilities.capabilities import allocates_dynamically, is_on

OWN = "spark.streaming.dynamicAllocation.enabled"
LOG = "spark.streaming.receiver.writeAheadLog.enable"
_ONCE = {"SocketInputDStream": "socket text", "RawInputDStream": "raw socket"}
"""Streams whose sender sends once, with their names in messages."""


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
