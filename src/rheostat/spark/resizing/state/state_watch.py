"""The last known locations of the state partitions; empty if state is not placed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rheostat.model import Places
from rheostat.spark.resizing.rescale_ports import Queries
from rheostat.spark.resizing.state.state_placement import Placement
from rheostat.state.assignment import Unit
from rheostat.state.places import places_of

PLACES_S = 3600.0
"""Unchanged locations are recorded again after this many seconds: readers look no further back."""


class StateWatch:
    """Observes the locations of the state partitions; ``placement`` is None if state is not placed,
    or cannot be.
    """

    def __init__(self, placement: Placement | None) -> None:
        self._placement = placement
        self.holders: Mapping[Unit, str | None] = {}
        """The executor of each unit at the last read; None if unknown, or if there are several."""
        self.weights: Mapping[Unit, float] | None = None
        """The bytes of each unit at the last weighing; None means equal weights."""
        self._recorded: tuple[Places, float] = ({}, 0.0)

    @property
    def places(self) -> bool:
        """Whether state is placed at all."""
        return self._placement is not None

    @property
    def ranges(self) -> bool:
        """Whether each executor shall have a contiguous range of every query's partitions."""
        return self._placement is not None and self._placement.ranges

    @property
    def units(self) -> Collection[Unit]:
        """The known units."""
        return self._placement.units if self._placement else ()

    @property
    def runs(self) -> set[str]:
        """The runs of queries whose units are known."""
        return {unit[0] for unit in self.units}

    def learn(self, queries: Queries, running: Collection[str]) -> bool:
        """Add the stores of new runs and forget those that have ended; return whether there are new
        ones.
        """
        if self._placement is None:
            return False
        self._placement.forget(running)
        is_new = False
        for run_id in set(running) - self.runs:
            state = queries.state(run_id)
            if state:
                self._placement.learn(run_id, *state)
                is_new = True
        return is_new

    def weigh(self) -> None:
        """Read the bytes of each unit, if state is distributed by size; call it before a change."""
        if self._placement:
            self.weights = self._placement.weights()

    def poll(self) -> bool:
        """Read the locations of all stores, and return whether they changed since the last read."""
        if self._placement is None:
            return False
        before, self.holders = self.holders, self._placement.holders()
        return self.holders != before

    def places_to_record(self, now: float) -> Places:
        """Return the locations of the state if they have changed or were last returned an hour ago;
        else nothing.
        """
        places, (recorded, recorded_s) = places_of(self.holders), self._recorded
        if places == recorded and now - recorded_s < PLACES_S:
            return {}
        self._recorded = places, now
        return places

    def send(self, units: Mapping[Unit, str], hosts: Mapping[str, str]) -> None:
        """Send units to executors."""
        if self._placement:
            self._placement.assign(units, hosts)
