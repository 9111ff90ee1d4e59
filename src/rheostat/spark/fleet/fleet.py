"""A fleet of receivers in a session, whose number and executors follow the pushed load."""

from __future__ import annotations

import atexit
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from rheostat.loop import FaultLog
from rheostat.model import Memory
from rheostat.protocols.receivers.fleet_size import (
    FleetFacts,
    FleetLimits,
    Start,
    fleet_step,
    measured_capacity,
)
from rheostat.spark.fleet.directory import Beat, Directory
from rheostat.spark.fleet.receiving import ReceiverTask, receive
from rheostat.spark.internals.executors import Executors

PERIOD_S = 1.0
RATE_S = 10.0
"""The rate's window in seconds: a burst of one second does not start a receiver."""

SILENT_S = 15.0
"""A receiver without a report for this many seconds is considered down."""

UP_S = 60.0
"""A receiver without any report this many seconds after its start is abandoned."""

AGAIN_S = 3.0
"""The pause in seconds between a receiver's failure and the next start."""

_SAMPLES = 240
JOB = "rheostat receives"
"""The name of the receivers' jobs in Spark's UI."""


Runs = Callable[[str, str, Callable[[], None]], None]
"""Runs a function in a task on an executor of a host, and returns at its end."""


@dataclass(slots=True)
class _Member:
    """A receiver of the fleet since its start."""

    executor: str
    started_s: float
    dismissed: bool = False
    last: Beat | None = None


@dataclass(frozen=True, slots=True)
class FleetState:
    """A fleet at ``t_s`` (Unix seconds): receivers by executor, how many the load requires and the
    executors can hold, rows per second received, and a receiver's capacity (None: unknown).
    """

    t_s: float
    by_executor: Mapping[str, int]
    demanded: int
    wanted: int
    rows_per_s: float | None
    capacity: float | None

    @property
    def receivers(self) -> int:
        """The number of receivers in service."""
        return sum(self.by_executor.values())


@dataclass(eq=False)
class Fleet:
    """A running fleet: starts, stops, moves and rebalances receivers, until ``stop`` or the
    application's end.

    Senders get addresses from ``GET http://ADDRESS/receivers``.
    """

    executors: Executors
    runs: Runs
    task: ReceiverTask
    limits: FleetLimits
    cores: int
    directory: Directory
    ended: Callable[[], bool]

    def __post_init__(self) -> None:
        self._members: dict[int, _Member] = {}
        self._numbers = 0
        self._memory: Memory = {}
        self._samples: deque[tuple[float, float]] = deque(maxlen=_SAMPLES)
        self._taken: deque[tuple[float, int]] = deque()
        self._rows = 0
        self._wait_s = 0.0
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rheostat-fleet", daemon=True)
        self._watchers: list[Callable[[FleetState], None]] = []
        self._faults = FaultLog("a receiver ended; starting another one")
        least = self.limits.least
        self.state = FleetState(0.0, {}, least, least, None, None)

    @property
    def address(self) -> str:
        """The address of the directory for senders, as ``host:port``."""
        return f"{self.task.directory[0]}:{self.directory.port}"

    @property
    def topic(self) -> str:
        """The topic that the receivers write to."""
        return self.task.topic

    def addresses(self) -> list[str]:
        """Return the addresses that accept records now."""
        return self.directory.addresses()

    @property
    def serves(self) -> bool:
        """Whether the fleet has been started and not been stopped."""
        return self._thread.is_alive() and not self._end.is_set()

    def watch(self, observer: Callable[[FleetState], None]) -> None:
        """Call ``observer`` with the state once a second, in the fleet's thread."""
        self._watchers.append(observer)

    def start(self) -> Fleet:
        """Start the receivers."""
        self.directory.start()
        self._thread.start()
        atexit.register(self.stop)
        return self

    def stop(self, within_s: float = 40.0) -> None:
        """Stop all receivers gracefully; return at their end or after the time limit in seconds."""
        self._end.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(10.0)
        with self._lock:
            members = list(self._members)
        for number in members:
            self.directory.dismiss(number)
        deadline = time.monotonic() + within_s
        while self._members and time.monotonic() < deadline and not self.ended():
            time.sleep(0.1)
        self.directory.stop()
        atexit.unregister(self.stop)

    def _run(self) -> None:
        while not self._end.wait(PERIOD_S):
            if self.ended():
                return
            try:
                self.poll(time.time())
            except Exception as fault:
                if self.ended():
                    return
                self._faults.warn(fault)

    def poll(self, now: float) -> None:
        """Compute one step: read the receivers' reports, decide, and carry out the orders."""
        hosts = self.executors.hosts()
        leaving = self.executors.leaving(hosts)
        self._read_reports(now)
        facts = self._facts(hosts, leaving, now)
        if now >= self._wait_s:
            orders, self._memory = fleet_step(facts, self.limits, self._memory, now)
            for order in orders:
                if isinstance(order, Start):
                    self._start_one(order.executor, hosts[order.executor], now)
                else:
                    self._dismiss(order.receiver)
        counts: dict[str, int] = dict.fromkeys(hosts, 0)
        for number in facts.running:
            executor = facts.receivers[number]
            counts[executor] = counts.get(executor, 0) + 1
        least = self.limits.least
        demanded, wanted = self._memory.get("demanded", least), self._memory.get("wanted", least)
        self.state = FleetState(now, counts, demanded, wanted, facts.rows_per_s, facts.capacity)
        for watcher in self._watchers:
            watcher(self.state)

    def _read_reports(self, now: float) -> None:
        beats = self.directory.beats()
        with self._lock:
            for number, member in self._members.items():
                beat = beats.get(number)
                if beat is None or beat == member.last:
                    continue
                self._measure(member.last, beat)
                member.last = beat
                member.executor = beat.executor or member.executor
        self._taken.append((now, self._rows))
        while now - self._taken[0][0] > RATE_S:
            self._taken.popleft()

    def _measure(self, before: Beat | None, beat: Beat) -> None:
        rows, busy_s, at_s = (before.rows, before.busy_s, before.at_s) if before else (0, 0.0, 0.0)
        self._rows += beat.rows - rows
        took_s = beat.at_s - at_s
        if before and took_s > 0:
            self._samples.append(((beat.rows - rows) / took_s, (beat.busy_s - busy_s) / took_s))

    def _facts(self, hosts: Mapping[str, str], leaving: set[str], now: float) -> FleetFacts:
        (first_s, first), (last_s, last) = self._taken[0], self._taken[-1]
        with self._lock:
            members = {
                number: member for number, member in self._members.items() if not member.dismissed
            }
        for number, member in list(members.items()):
            if not _serves(member, now) and now - member.started_s > UP_S:
                del members[number]
                self._dismiss(number)
        return FleetFacts(
            executors=tuple(executor for executor in hosts if executor not in leaving),
            leaving=frozenset(leaving),
            cores=self.cores,
            receivers={number: member.executor for number, member in members.items()},
            running=frozenset(number for number, member in members.items() if _serves(member, now)),
            rows_per_s=(last - first) / (last_s - first_s) if last_s > first_s else None,
            capacity=measured_capacity(self._samples),
        )

    def _dismiss(self, number: int) -> None:
        self.directory.dismiss(number)
        with self._lock:
            if number in self._members:
                self._members[number].dismissed = True

    def _start_one(self, executor: str, host: str, now: float) -> None:
        number, self._numbers = self._numbers, self._numbers + 1
        with self._lock:
            self._members[number] = _Member(executor, now)
        self.directory.expect(number)
        task = replace(self.task, number=number, host=self.task.host or host)
        run = partial(self._run_receiver, number, executor, host, task)
        threading.Thread(target=run, name=f"receiver-{number}", daemon=True).start()

    def _run_receiver(self, number: int, executor: str, host: str, task: ReceiverTask) -> None:
        """Run a receiver's job until it ends."""
        try:
            self.runs(executor, host, partial(receive, task))
        except Exception as fault:
            if not self.ended() and not self._end.is_set():
                self._faults.warn(fault)
                self._wait_s = time.time() + AGAIN_S
        finally:
            self.directory.forget(number)
            with self._lock:
                self._members.pop(number, None)


def _serves(member: _Member, now: float) -> bool:
    return member.last is not None and now - member.last.received_s < SILENT_S
