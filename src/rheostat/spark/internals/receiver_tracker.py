"""Reads where a StreamingContext's receivers run, and moves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rheostat.spark.internals.gateway import ABSENT, Gateway

_TRACKER = "org.apache.spark.streaming.scheduler"
_SCHEDULE = "org$apache$spark$streaming$scheduler$ReceiverTracker$$updateReceiverScheduledExecutors"
_ACTIVE = "ACTIVE"


@dataclass(frozen=True, slots=True)
class Receiver:
    """A receiver: its stream's number, and its executor; None while it starts."""

    stream: int
    executor: str | None


class DStreams:
    """A classic StreamingContext (``pyspark.streaming``, deprecated since Spark 3.4) and its
    receiver tracker.

    * Calls: ``StreamingContext.getState``, ``StreamingContext.graph``,
      ``StreamingContext.scheduler``, ``ReceiverTracker.endpoint`` (private) asked
      ``GetAllReceiverInfo``, ``ReceiverTracker.updateReceiverScheduledExecutors`` (private),
      ``StopReceiver`` sent to a receiver's own endpoint.
    * Probed by: the calls themselves.
    * Without them: receivers stay where Spark puts them, and executors with receivers stay.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, streaming: Any) -> None:
        self._gateway = gateway
        self._streaming = streaming

    def state(self) -> str:
        """Return INITIALIZED, ACTIVE or STOPPED; also STOPPED if the JVM has ended."""
        try:
            return str(self._scala().getState().toString())
        except (*ABSENT, OSError):
            return "STOPPED"

    def batch_s(self) -> float | None:
        """Return the batch interval in seconds; None if this Spark does not report it."""
        try:
            return float(self._scala().graph().batchDuration().milliseconds()) / 1000
        except ABSENT:
            return None

    def receiver_streams(self) -> tuple[str, ...]:
        """Return the class of each stream with a receiver; known before the start."""
        streams = self._scala().graph().getReceiverInputStreams()
        return tuple(str(stream.getClass().getSimpleName()) for stream in streams)

    def receivers(self) -> tuple[Receiver, ...] | None:
        """Return all receivers by number; None if unknown, as before the start."""
        try:
            infos = self._infos()
        except (*ABSENT, OSError):
            return None
        return tuple(sorted(map(_receiver, infos), key=lambda receiver: receiver.stream))

    def move(self, stream: int, executor: str, host: str) -> bool:
        """Stop a receiver gracefully and start it on an executor; False if impossible."""
        try:
            info = next(
                candidate for candidate in self._infos() if int(candidate.receiverId()) == stream
            )
            # The tracker prefers the scheduled executor when it restarts a receiver.
            place = self._gateway.jvm.org.apache.spark.scheduler.ExecutorCacheTaskLocation
            here = self._gateway.sequence([place(host, executor)])
            getattr(self._tracker(), _SCHEDULE)(stream, here)
            if info.endpoint().isDefined():
                stop = self._gateway.single("org.apache.spark.streaming.receiver.StopReceiver$")
                info.endpoint().get().send(stop)
        except (*ABSENT, StopIteration):
            return False
        return True

    def can_move(self) -> bool:
        """Return whether this Spark's tracker has the members that ``move`` needs."""
        try:
            kind = self._gateway.class_named(f"{_TRACKER}.ReceiverTracker")
            names = {str(method.getName()) for method in kind.getMethods()}
            self._gateway.single("org.apache.spark.streaming.receiver.StopReceiver$")
        except ABSENT:
            return False
        return _SCHEDULE in names

    def _scala(self) -> Any:
        return self._streaming._jssc.ssc()

    def _tracker(self) -> Any:
        return self._scala().scheduler().receiverTracker()

    def _infos(self) -> list[Any]:
        """Return the tracker's receivers, read in its own thread, which owns the table."""
        endpoint = self._gateway.field(self._tracker(), "endpoint")
        kind = self._gateway.class_named("scala.collection.immutable.Map")
        tag = self._gateway.jvm.scala.reflect.ClassTag.apply(kind)
        request = self._gateway.single(f"{_TRACKER}.GetAllReceiverInfo$")
        values = endpoint.askSync(request, tag).valuesIterator()
        infos = []
        while values.hasNext():
            infos.append(values.next())
        return infos


def _receiver(info: Any) -> Receiver:
    at = info.runningExecutor()
    runs = str(info.state().toString()) == _ACTIVE and at.isDefined()
    return Receiver(int(info.receiverId()), str(at.get().executorId()) if runs else None)
