"""A receiver: a task on an executor that serves senders until the driver dismisses it.

This module is imported on executors, which need Rheostat with the extra ``kafka``.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rheostat.spark.fleet.intake import PRODUCER_SETTINGS, Intake
from rheostat.spark.fleet.push_sources import http_server, socket_server

BEAT_S = 0.5
LOST_S = 20.0
"""Without an answer from the driver for this many seconds a receiver ends: it is unreachable."""

SOURCES: Mapping[str, Callable[[Intake, str], Any]] = {"http": http_server, "socket": socket_server}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiverTask:
    """A receiver's task: number, directory, source, public host (empty: its own), target."""

    number: int
    directory: tuple[str, int]
    protocol: str
    bind: str
    host: str
    topic: str
    kafka: Mapping[str, Any]
    rows_per_s: float = 0.0


def receive(task: ReceiverTask) -> None:
    """Serve senders until the driver's directory ends it; Spark's second attempts end at once."""
    from confluent_kafka import Producer
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        return
    serve(task, Producer({"log_level": "0", **task.kafka, **PRODUCER_SETTINGS}))


def serve(task: ReceiverTask, producer: Any, beat: Callable[..., bool] | None = None) -> None:
    """Serve senders as ``receive`` does, with an existing producer."""
    intake = Intake(producer, task.topic, task.rows_per_s)
    server = SOURCES[task.protocol](intake, task.bind)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    address = {"address": f"{task.host}:{server.server_address[1]}", "executor": executor_id()}
    try:
        _report_until_dismissed(task, intake, address, beat or report)
    finally:
        server.shutdown()
        server.server_close()
        intake.close()


def _report_until_dismissed(
    task: ReceiverTask, intake: Intake, address: dict[str, Any], beat: Callable[..., bool]
) -> None:
    answered_s = time.monotonic()
    while time.monotonic() - answered_s < LOST_S:
        meter = intake.meter
        counts = {"rows": meter.rows, "busy_s": meter.busy_s(), "at_s": time.monotonic()}
        try:
            if not beat(task, {**address, **counts}):
                return
            answered_s = time.monotonic()
        except (OSError, ValueError, http.client.HTTPException):
            pass  # the driver is busy or has ended
        time.sleep(BEAT_S)


def report(task: ReceiverTask, news: Mapping[str, Any]) -> bool:
    """Report to the driver's directory; return whether to continue."""
    connection = http.client.HTTPConnection(*task.directory, timeout=5.0)
    try:
        connection.request("POST", f"/receivers/{task.number}", json.dumps(news))
        answer = json.load(connection.getresponse())
        return bool(answer["go_on"])
    except KeyError:
        return False
    finally:
        connection.close()


def executor_id(proc: Path = Path("/proc")) -> str | None:
    """Return this process's executor id, from its ancestors' arguments; None if unknown."""
    pid = "self"
    try:
        for _ in range(6):
            words = (proc / pid / "cmdline").read_bytes().split(b"\0")
            if b"--executor-id" in words:
                return words[words.index(b"--executor-id") + 1].decode()
            status = (proc / pid / "status").read_text()
            pid = next(line for line in status.splitlines() if line.startswith("PPid:")).split()[1]
    except (OSError, StopIteration, IndexError):
        return None
    return None
