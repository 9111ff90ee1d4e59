"""What the cluster manager was asked for last."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JError

_FIELD = "requestedTotalExecutorsPerResourceProfile"


def requested_executors(backend: Any) -> int | None:
    """Return how many executors the cluster manager was asked for last, of all resource profiles
    (``CoarseGrainedSchedulerBackend.getRequestedTotalExecutors``, before 4.3 its private field);
    None where nobody has asked yet, or this Spark does not tell.

    What it was asked for at the start of the application is not among it, except by dynamic
    allocation.
    """
    try:
        # As text: the counts one by one would be two calls each.
        counts = str(_requested(backend).valuesIterator().mkString(","))
    except (Py4JError, TypeError, AttributeError):
        return None
    return sum(int(count) for count in counts.split(",") if count) or None


def _requested(backend: Any) -> Any:
    if "getRequestedTotalExecutors" in dir(backend):
        return backend.getRequestedTotalExecutors()
    kind = backend.getClass()
    while kind is not None and kind.getSimpleName() != "CoarseGrainedSchedulerBackend":
        kind = kind.getSuperclass()
    # Another backend ends the walk with None, and the call with an error that counts as not told.
    field = kind.getDeclaredField(_FIELD)
    field.setAccessible(True)
    return field.get(backend)
