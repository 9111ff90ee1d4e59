"""A sender of records with ids, which retries and records which were acknowledged."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

_STEP_S = 0.1
_MOST = 500
"""Maximum number of records per request; a backlog takes several."""

ANSWER_S = 80.0
_AGAIN_S = 0.2
_LOOK_S = 2.0
"""Seconds between two lookups of the receivers, with which senders notice changes."""

_WIDTH = 64


class Line(Protocol):
    """A connection to one receiver."""

    def send(self, ids: Sequence[str]) -> None:
        """Return once the records are acknowledged; raises OSError if some may be rejected."""

    def close(self) -> None:
        """Close the connection."""


class HttpLine:
    """Sends records by ``POST /records``."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=ANSWER_S)

    def send(self, ids: Sequence[str]) -> None:
        """Return once the records are acknowledged; raises OSError."""
        body = "".join(
            json.dumps({"id": executor, "value": value_of(executor)}) + "\n" for executor in ids
        )
        try:
            self._connection.request("POST", "/records", body)
            answer = self._connection.getresponse()
            reply = json.load(answer)
        except (http.client.HTTPException, ValueError) as fault:
            raise OSError(str(fault)) from None
        # All or nothing: the records of a partially accepted request are sent again with the same
        # ids.
        taken = reply.get("acknowledged") if isinstance(reply, dict) else None
        if answer.status != 200 or taken != len(ids):
            raise OSError(f"{answer.status}: {reply}")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class SocketLine:
    """Sends records as lines, and reads the ids that are returned."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=ANSWER_S)
        self._answers = self._socket.makefile("r", encoding="utf-8")

    def send(self, ids: Sequence[str]) -> None:
        """Return once the records are acknowledged; raises OSError."""
        self._socket.sendall(
            "".join(f"{executor}\t{value_of(executor)}\n" for executor in ids).encode()
        )
        for executor in ids:
            if self._answers.readline().rstrip("\n") != executor:
                raise OSError("the receiver has ended")

    def close(self) -> None:
        """Close the connection."""
        self._answers.close()
        self._socket.close()


LINES: dict[str, Callable[[str], Line]] = {"http": HttpLine, "socket": SocketLine}


def value_of(name: str) -> str:
    """Return the value of the record with this id, so that the output can be checked."""
    return f"value of {name} ".ljust(_WIDTH, ".")


def receivers(directory: str) -> list[str]:
    """Return the receivers' addresses in a fleet's directory (``host:port``), if it responds."""
    connection = http.client.HTTPConnection(directory, timeout=5.0)
    try:
        connection.request("GET", "/receivers")
        return [str(receiver) for receiver in json.load(connection.getresponse())["receivers"]]
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException):
        return []
    finally:
        connection.close()


class Senders:
    """Several senders with one request at a time each; ``rate(t)`` is the records per second of all
    together, t seconds after the start.

    ``acknowledged`` contains (Unix seconds, records so far) over all senders, ``ids`` the
    acknowledged ids, and ``tried`` all sent ids. Unacknowledged records are sent again, to another
    receiver if there is one. Ids begin with ``prefix``.
    """

    def __init__(
        self,
        directory: str,
        protocol: str,
        senders: int,
        rate: Callable[[float], float],
        find: Callable[[str], list[str]] = receivers,
        prefix: str = "",
    ) -> None:
        self._directory, self._rate, self._find, self._prefix = directory, rate, find, prefix
        self._line, self._count = LINES[protocol], senders
        self._end = threading.Event()
        self._enough = threading.Event()
        self._lock = threading.Lock()
        self._lookup: tuple[float, list[str]] = (float("-inf"), [])
        self._threads: list[threading.Thread] = []
        self._started_s = time.monotonic()
        self.ids: set[str] = set()
        self.tried: set[str] = set()
        self.retries = 0
        self.due: list[int] = [0] * senders
        self.acknowledged: list[tuple[float, int]] = []

    def start(self) -> Senders:
        """Start sending."""
        self._started_s = time.monotonic()
        self.acknowledged.append((time.time(), 0))
        for number in range(self._count):
            thread = threading.Thread(target=self._run, args=(number,), daemon=True)
            self._threads.append(thread)
            thread.start()
        return self

    def finish(self, within_s: float = 120.0) -> bool:
        """Create no new records, and return whether all records are acknowledged in time."""
        self._enough.set()
        deadline = time.monotonic() + within_s
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        done = not any(thread.is_alive() for thread in self._threads)
        self._end.set()
        return done

    def __enter__(self) -> Senders:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()

    def _run(self, sender: int) -> None:
        made, credit, line, address = 0, 0.0, None, ""
        waiting: list[str] = []
        previous_s = time.monotonic()
        while not self._end.is_set():
            now = time.monotonic()
            if not self._enough.is_set():
                # Fractions are carried over, so that a slow rate still gives whole records in time.
                credit += self._rate(now - self._started_s) / self._count * (now - previous_s)
                fresh = int(credit)
                credit -= fresh
                waiting += [self._name(sender, number) for number in range(made, made + fresh)]
                made += fresh
                self.due[sender] = made
            # The load has ended and everything is acknowledged.
            elif not waiting:
                return
            previous_s = now
            if not waiting:
                self._end.wait(_STEP_S)
                continue
            wanted = self._chosen(sender, now)
            if wanted != address or line is None:
                line, address = self._connected(line, wanted), wanted
            if line is None or not self._sent(line, waiting[:_MOST]):
                self._drop(line)
                line, address = None, ""
                continue
            del waiting[:_MOST]
            self._end.wait(_STEP_S if len(waiting) < _MOST else 0.0)

    def _name(self, sender: int, number: int) -> str:
        return f"{self._prefix}{sender}-{number}"

    def _sent(self, line: Line, ids: list[str]) -> bool:
        try:
            with self._lock:
                # Before it is sent, because it may be output although the acknowledgement never
                # arrives.
                self.tried.update(ids)
            line.send(ids)
        except OSError:
            return False
        with self._lock:
            self.ids.update(ids)
            self.acknowledged.append((time.time(), len(self.ids)))
        return True

    def _chosen(self, sender: int, now: float) -> str:
        """Return the receiver of a sender; the senders are distributed over all receivers."""
        with self._lock:
            if now - self._lookup[0] > _LOOK_S:
                self._lookup = (now, self._find(self._directory))
            addresses = self._lookup[1]
            # By number: an equal number of senders per receiver, and a stable choice until the list
            # changes.
            return addresses[sender % len(addresses)] if addresses else ""

    def _connected(self, line: Line | None, address: str) -> Line | None:
        if line is not None:
            line.close()
        try:
            return self._line(address) if address else None
        except OSError:
            return None

    def _drop(self, line: Line | None) -> None:
        """Close a connection that failed; the receivers are looked up again."""
        if line is not None:
            line.close()
        with self._lock:
            self.retries += 1
            # Immediately, because the receiver that failed may have left the list.
            self._lookup = (float("-inf"), [])
        self._end.wait(_AGAIN_S)
