"""The executors of a simulated application: starting, registered, draining or removed."""

from __future__ import annotations

from collections.abc import Callable

from rheostat.model import Rescaling
from rheostat.sim.bookkeeping import Book
from rheostat.sim.engine import Events
from rheostat.sim.noise import Noise
from rheostat.sim.spark.spark_batch import Executor
from rheostat.sim.spark.spark_parameters import SparkParameters


class Fleet:
    """Adjusts executors to a target: they register after a delay; the youngest are removed first.

    ``registered`` is called with each registration time. The initial executors are warm.
    """

    def __init__(
        self,
        p: SparkParameters,
        events: Events,
        book: Book,
        noise: Noise,
        registered: Callable[[float], None],
    ) -> None:
        self._p, self._events, self._book = p, events, book
        self._noise, self._registered = noise, registered
        self.executors = [
            Executor(n, events.now, cold=False, state_cold=False) for n in range(p.executors)
        ]
        """The registered executors, oldest first, including draining ones."""
        self.target = p.executors
        self._starting: list[int] = []
        self._releasing = 0
        self._numbers = p.executors
        self._slot_s = 0.0
        self._counted_s = events.now

    @property
    def staying(self) -> list[Executor]:
        """The executors that accept tasks."""
        return [executor for executor in self.executors if not executor.leaving]

    def slot_s(self, now: float) -> float:
        """Return the registered slot-seconds since the start."""
        self._slot_s += len(self.executors) * self._p.slots_per_executor * (now - self._counted_s)
        self._counted_s = now
        return self._slot_s

    def aim(self, target: int, now: float) -> Rescaling:
        """Set the target, request missing executors, release the surplus, return the progress."""
        if target != self.target:
            self.target = target
            self._book.target(now, target)
        return self.assert_target(now)

    def assert_target(self, now: float) -> Rescaling:
        """Request missing executors and drain surplus ones."""
        staying = self.staying
        missing = self.target - len(staying) - len(self._starting)
        for _ in range(missing):
            self._start(now)
        # Cancel starting executors first: they run no task and hold no state.
        while missing < 0 and self._starting:
            self._starting.pop()
            missing += 1
        # Choose the youngest, as the product does among equals; state is evenly placed here.
        for executor in staying[len(staying) + missing :] if missing < 0 else ():
            executor.leaving = True
        self._note(now)
        return self._phase()

    def release(self, executors: list[Executor], now: float) -> None:
        """Release idle executors: they accept no tasks and are paid until they end."""
        if not executors:
            return
        self._remove(executors, now)
        self._releasing += len(executors)
        self._note(now)
        self._events.at(now + self._p.leave_s, lambda t_s: self._released(len(executors), t_s))

    def lose(self, executor: Executor, now: float) -> None:
        """Lose an executor; a new one is requested at once, because the target is unchanged."""
        # A lost executor ends at once, so it is paid until now only.
        self._remove([executor], now)
        self.assert_target(now)

    def _start(self, now: float) -> None:
        number = self._numbers
        self._numbers += 1
        # Executors that start together share a machine or a scheduler and slow each other down.
        mean_s = self._p.start_s + self._p.concurrent_start_s * len(self._starting)
        self._starting.append(number)
        self._events.at(
            now + mean_s * self._noise.take(1)[0], lambda t_s: self._register(number, t_s)
        )

    def _register(self, number: int, now: float) -> None:
        if number not in self._starting:  # it was cancelled
            return
        self.slot_s(now)
        self._starting.remove(number)
        self.executors.append(Executor(number, now))
        self._book.executors_started += 1
        self._note(now)
        self._registered(now)

    def _remove(self, executors: list[Executor], now: float) -> None:
        self.slot_s(now)
        self.executors = [executor for executor in self.executors if executor not in executors]

    def _released(self, count: int, now: float) -> None:
        self._releasing -= count
        self._note(now)

    def _note(self, now: float) -> None:
        self._book.registered(now, len(self.executors))
        self._book.paid(now, len(self.executors) + len(self._starting) + self._releasing)

    def _phase(self) -> Rescaling:
        leaving = sum(executor.leaving for executor in self.executors)
        if self._starting:
            return Rescaling(phase="growing", detail=f"{len(self._starting)} starting")
        if leaving:
            return Rescaling(phase="shrinking", detail=f"{leaving} leaving")
        return Rescaling(phase="steady")
