"""A StreamingContext with socket receivers on a local cluster, and its output."""

from __future__ import annotations

import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from rheostat.model import Limits
from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.internals.receiver_tracker import DStreams
from rheostat.spark.receivers.dstreams_sensor import COMPLETED, read_batches
from rheostat.spark.sensing.rest import Rest
from rheostat_lab.clusters.session_options import DRIVER_FLAGS, session_options
from rheostat_lab.clusters.standalone_cluster import Cluster
from rheostat_lab.receivers.line_feed import LineFeed
from rheostat_lab.services.logged_session import start_logged_session

START_S = 120.0
POLL_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The dimensions of the job: initial and maximum executors, their cores, the receivers, the
    batch interval and the delay per row.
    """

    executors: int
    most: int
    cores: int
    receivers: int
    batch_s: float = 2.0
    service_ms: float = 0.0


class DStreamsJob:
    """The running job, until ``stack`` ends. ``came`` counts the output by stream and line."""

    def __init__(
        self,
        cluster: Cluster,
        shape: Shape,
        feeds: Sequence[LineFeed],
        stack: ExitStack,
        options: Mapping[str, str] | None = None,
        without: Iterable[str] = (),
        driver: Mapping[str, str] | None = None,
    ) -> None:
        from pyspark.streaming import StreamingContext

        os.environ.update(driver or cluster.driver_environment())
        self.shape = shape
        self.came: Counter[tuple[int, int]] = Counter()
        settings = {
            **session_options(
                Limits(max_executors=shape.most),
                shape.executors,
                quiet=True,
                user={
                    "spark.executor.cores": str(shape.cores),
                    "spark.driver.extraJavaOptions": DRIVER_FLAGS,
                },
            ),
            "spark.streaming.blockInterval": f"{max(200, round(shape.batch_s * 125))}ms",
            "spark.python.worker.reuse": "true",
            **(options or {}),
        }
        kept = {name: value for name, value in settings.items() if name not in set(without)}
        self.spark = start_logged_session(
            cluster.url, kept, "receivers", cluster.folder / "driver.log"
        )
        stack.callback(self.spark.stop)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # we know that DStreams are deprecated
            self.streaming: Any = StreamingContext(self.spark.sparkContext, shape.batch_s)
        stack.callback(lambda: self.streaming.stop(stopSparkContext=False, stopGraceFully=False))
        self._plan(feeds)
        self.dstreams = DStreams(Gateway(self.streaming), self.streaming)

    def _plan(self, feeds: Sequence[LineFeed]) -> None:
        work, came = working(self.shape.service_ms / 1000), self.came
        streams = []
        for number, feed in enumerate(feeds):
            lines = self.streaming.socketTextStream("127.0.0.1", feed.port)
            streams.append(lines.map(numbered(number)))

        def collect(rows: Any) -> None:
            # Not self, because a checkpoint of the context includes this function.
            came.update(rows.mapPartitions(work).collect())

        self.streaming.union(*streams).foreachRDD(collect)

    def start(self) -> DStreamsJob:
        """Start the context and wait until all receivers run."""
        self.streaming.start()
        until("all receivers run", lambda: None not in self.places().values() and self.places())
        return self

    def places(self) -> dict[int, str | None]:
        """Return the executor of each receiver."""
        return {receiver.stream: receiver.executor for receiver in self.dstreams.receivers() or ()}

    def drain(self, within_s: float = START_S) -> int | None:
        """Wait until all batches with lines have finished, and return the number of failed batches;
        None if the driver does not report it.
        """
        context = self.spark.sparkContext
        rest = Rest(context.uiWebUrl, context.applicationId, 30.0)

        def drained() -> bool:
            batches = read_batches(rest.get("streaming/batches"))
            left = [batch for batch in batches or () if batch.status != COMPLETED and batch.rows]
            return batches is not None and not left

        with suppress(TimeoutError):
            until("all lines have been processed", drained, within_s)
        page = rest.get("streaming/batches")
        return None if page is None else sum(entry["numFailedOutputOps"] > 0 for entry in page)

    def counts(self, executors: Iterable[str]) -> list[int]:
        """Return the number of receivers on each executor, the largest first."""
        held = Counter(self.places().values())
        return sorted((held[executor] for executor in executors), reverse=True)


def numbered(stream: int) -> Callable[[str], tuple[int, int]]:
    """Return a function that makes a line of a stream unique among all streams."""
    return lambda line: (stream, int(line))


def working(service_s: float) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a function that delays each row, which represents a call to an external system."""

    def work(rows: Iterator[Any]) -> Iterator[Any]:
        for row in rows:
            if service_s:
                time.sleep(service_s)
            yield row

    return work


def until(what: str, condition: Callable[[], Any], within_s: float = START_S) -> float:
    """Wait until the condition holds, and return the seconds it took; raises TimeoutError."""
    began_s = time.monotonic()
    while not condition():
        if time.monotonic() - began_s > within_s:
            raise TimeoutError(f"not within {within_s:g} s: {what}")
        time.sleep(POLL_S)
    return time.monotonic() - began_s


def pid_of(executor: str, cluster: Cluster) -> int:
    """Return the process of an executor; raises StopIteration if there is none."""
    word = ["--executor-id", executor]
    return next(
        process.pid
        for process in cluster.executors()
        if word in [process.cmdline()[n : n + 2] for n in range(len(process.cmdline()))]
    )
