"""Observes the batches and executors of a StreamingContext."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rheostat.model import Observation
from rheostat.ports import Sensor
from rheostat.spark.receivers.stream_batches import read_batches, signals
from rheostat.spark.sensing.rest.rest_pages import Rest

ANSWER_S = 15.0
"""The time-out in seconds: a young driver on a busy computer took 5 s for its first page."""


class DStreamsSensor(Sensor):
    """Reads the batches of a StreamingContext, including running ones, from the driver's REST
    interface, which Spark's own streaming listener feeds.

    ``batch_s`` returns the batch interval, ``active`` whether the context runs, and ``executors``
    the number of registered ones, if the actuator does not count them. Without the UI no batch is
    observable, and a policy that needs one keeps the size.
    """

    def __init__(
        self,
        rest: Rest,
        application: str,
        slots_per_executor: int,
        batch_s: Callable[[], float | None],
        active: Callable[[], bool],
        executors: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._rest = rest
        self._application = application
        self._slots = slots_per_executor
        self._batch_s = batch_s
        self._active = active
        self._executors = executors

    def observe(self, now: float) -> Sequence[Observation]:
        """Return one observation; none while the context does not run."""
        if not self._active():
            return ()
        batch_s = self._batch_s()
        batches = read_batches(self._rest.get("streaming/batches"))
        measured = signals(batches, batch_s, now) if batches is not None and batch_s else {}
        return (
            Observation(
                t_s=now,
                application=self._application,
                query="dstreams",
                executors=self._executors(),
                slots_per_executor=self._slots,
                **measured,
            ),
        )
