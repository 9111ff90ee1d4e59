"""Faults as plants that wrap a plant: lost or slow executors, late or missing metrics."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from rheostat.errors import BadInput
from rheostat.model import Observation
from rheostat.sim.plant import Plant, PlantWrapper

_KNOWN = frozenset({"t_s", "application", "query", "executors", "slots_per_executor", "target"})
"""The values that the driver itself knows, which are never late or missing."""

_SIGNALS = tuple(
    option.name for option in dataclasses.fields(Observation) if option.name not in _KNOWN
)


class Breakable(Plant, Protocol):
    """A plant whose executors can fail."""

    def lose_executor(self, now: float) -> None:
        """Lose an executor immediately."""

    def slow_executor(self, factor: float, until_s: float, now: float) -> None:
        """Make an executor take ``factor`` times as long until ``until_s``."""


class _Failing(PlantWrapper):
    """A plant that wraps a plant and fails at random times: a Poisson process with a mean of
    ``mean_s`` seconds between failures.
    """

    def __init__(self, plant: Breakable, mean_s: float, generator: np.random.Generator) -> None:
        if not mean_s >= 1:
            raise BadInput(
                f"mean_s, between two faults, must be at least 1 second, but it is {mean_s:g}"
            )
        super().__init__(plant)
        self._breakable, self._mean_s, self._generator = plant, mean_s, generator
        self._next_s: float | None = None

    def advance(self, now: float) -> None:
        """Advance the plant to each due fault, and to ``now``."""
        if self._next_s is None:
            # Drawn at the first advance, because the plant's start is not known earlier.
            self._next_s = now + self._generator.exponential(self._mean_s)
        while self._next_s <= now:
            # The plant first advances to the fault, so that everything that is due before it has
            # happened.
            self._breakable.advance(self._next_s)
            self._fail(self._next_s)
            self._next_s += self._generator.exponential(self._mean_s)
        self._breakable.advance(now)

    def lose_executor(self, now: float) -> None:
        """Delegate to the wrapped plant, so that faults can wrap each other."""
        self._breakable.lose_executor(now)

    def slow_executor(self, factor: float, until_s: float, now: float) -> None:
        """Delegate to the wrapped plant."""
        self._breakable.slow_executor(factor, until_s, now)

    def _fail(self, now: float) -> None:
        raise NotImplementedError


class ExecutorLoss(_Failing):
    """Loses an executor every ``mean_s`` seconds on average."""

    def _fail(self, now: float) -> None:
        self.lose_executor(now)


class Stragglers(_Failing):
    """Slows an executor every ``mean_s`` seconds on average: ``factor`` times as long, for
    ``lasting_s`` seconds.
    """

    def __init__(
        self,
        plant: Breakable,
        mean_s: float,
        generator: np.random.Generator,
        *,
        factor: float = 5.0,
        lasting_s: float = 60.0,
    ) -> None:
        if not (factor >= 1 and lasting_s > 0):
            raise BadInput(
                "a straggler needs a factor of 1 or more and lasting_s above 0, but they are"
                f" {factor:g} and {lasting_s:g}"
            )
        super().__init__(plant, mean_s, generator)
        self._factor, self._lasting_s = factor, lasting_s

    def _fail(self, now: float) -> None:
        self.slow_executor(self._factor, now + self._lasting_s, now)


class LateMetrics(PlantWrapper):
    """Reports the signals as they were ``delay_s`` seconds ago, with their time; sizes are reported
    immediately.

    A tick reports the newest signals that are old enough; before there are any, they are absent.
    """

    def __init__(self, plant: Plant, delay_s: float) -> None:
        if not delay_s >= 0:
            raise BadInput(
                f"delay_s, of late metrics, must be 0 seconds or more, but it is {delay_s:g}"
            )
        super().__init__(plant)
        self._delay_s = delay_s
        self._on_the_way: deque[tuple[float, Sequence[Observation]]] = deque()
        self._shown: tuple[float, Sequence[Observation]] | None = None

    def observe(self, now: float) -> Sequence[Observation]:
        """Return the old signals with the current sizes."""
        fresh = super().observe(now)
        self._on_the_way.append((now, fresh))
        while self._on_the_way and self._on_the_way[0][0] <= now - self._delay_s:
            self._shown = self._on_the_way.popleft()
        if self._shown is None:
            # Sizes without signals: the loop must decide, and the policy must handle absent
            # numbers.
            return tuple(_without(observation, _SIGNALS) for observation in fresh)
        return tuple(
            _with_sizes_of(new, old) for new, old in zip(fresh, self._shown[1], strict=False)
        )


class MissingMetrics(PlantWrapper):
    """Omits each signal with probability ``share`` at each tick; sizes are always reported."""

    def __init__(self, plant: Plant, share: float, generator: np.random.Generator) -> None:
        if not 0 <= share <= 1:
            raise BadInput(
                f"the share of missing metrics must be between 0 and 1, but it is {share:g}"
            )
        super().__init__(plant)
        self._share, self._generator = share, generator

    def observe(self, now: float) -> Sequence[Observation]:
        """Return the remaining signals."""
        return tuple(_without(observation, self._drawn()) for observation in super().observe(now))

    def _drawn(self) -> list[str]:
        # The same number of draws at every tick, so that missing signals do not depend on the past.
        missing = self._generator.random(len(_SIGNALS)) < self._share
        return [name for name, gone in zip(_SIGNALS, missing, strict=True) if gone]


def _without(observation: Observation, names: Sequence[str]) -> Observation:
    absent: dict[str, None] = dict.fromkeys(names)
    return dataclasses.replace(observation, **absent)  # type: ignore[arg-type]


def _with_sizes_of(new: Observation, old: Observation) -> Observation:
    return dataclasses.replace(
        # The old signals keep their time, because the guard against stale data uses it.
        old,
        executors=new.executors,
        slots_per_executor=new.slots_per_executor,
        target=new.target,
    )
