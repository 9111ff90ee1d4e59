"""Reads where the state partitions of the running queries are, keeps that, and moves them.

A stateful task prefers the executor that holds its stores according to the driver's
``StateStoreCoordinator``. Reporting another executor to the coordinator right after a batch moves
the partition: the next batch runs its task there, which first loads the state from the checkpoint.
The old holder unloads it at its next maintenance.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from rheostat.model import Places
from rheostat.spark.internals.coordinator import Coordinator
from rheostat.spark.running_queries import RunningQueries
from rheostat.spark.sensing.state_stores import Operator
from rheostat.state.assignment import Unit
from rheostat.state.places import places_of

PLACES_S = 3600.0
"""Unchanged locations are recorded again after this many seconds: readers look no further back."""


class Placement:
    """The stores of all running queries, by unit: all state of one partition of a query moves
    together.

    ``bytes_in`` returns the bytes below a folder of the checkpoint; without it all units have equal
    weight. ``ranges`` requests contiguous ranges of each query's partitions. Unless it ``places``
    state, no query has any.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        bytes_in: Callable[[str], int | None] | None = None,
        ranges: bool = False,
        places: bool = True,
    ) -> None:
        self._coordinator = coordinator
        self._bytes_in = bytes_in
        self.ranges = ranges
        self.places = places
        self.holders: Mapping[Unit, str | None] = {}
        """The executor of each unit at the last read; None if unknown, or if there are several."""
        self.weights: Mapping[Unit, float] | None = None
        """The bytes of each unit at the last weighing; None means equal weights."""
        self._stores: dict[Unit, tuple[Any, ...]] = {}
        self._folders: dict[Unit, list[str]] = {}
        self._recorded: tuple[Places, float] = ({}, 0.0)

    @property
    def units(self) -> Collection[Unit]:
        """The known units."""
        return self._stores.keys()

    @property
    def runs(self) -> set[str]:
        """The runs of queries whose units are known."""
        return {unit[0] for unit in self._stores}

    def update(self, queries: RunningQueries, running: Collection[str]) -> bool:
        """Add the stores of new runs, forget those that have ended; return whether any is new."""
        if not self.places:
            return False
        self.forget(running)
        is_new = False
        for run_id in set(running) - self.runs:
            state = queries.state(run_id)
            if state:
                self.learn(run_id, *state)
                is_new = True
        return is_new

    def learn(self, run_id: str, state_folder: str, operators: Iterable[Operator]) -> None:
        """Add the stores of a run of a query; a run's stores never change."""
        stores: dict[Unit, list[Any]] = {}
        for operator in operators:
            for partition in range(operator.partitions):
                self._folders.setdefault((run_id, partition), []).append(
                    f"{state_folder}/{operator.number}/{partition}"
                )
                named = (
                    self._coordinator.store(state_folder, run_id, operator.number, partition, name)
                    for name in operator.stores
                )
                stores.setdefault((run_id, partition), []).extend(named)
        self._stores |= {unit: tuple(of_unit) for unit, of_unit in stores.items()}

    def forget(self, running: Collection[str]) -> None:
        """Drop the runs that are not in ``running``; a restarted query has a new run."""
        for unit in [unit for unit in self._stores if unit[0] not in running]:
            del self._stores[unit], self._folders[unit]

    def poll(self) -> bool:
        """Read the executor of each unit, and return whether one changed since the last read."""
        before, stores = self.holders, tuple(itertools.chain.from_iterable(self._stores.values()))
        # One call for all stores, because it runs every second while state moves.
        locations = iter(self._coordinator.locations(stores) if stores else ())
        self.holders = {
            unit: _common({next(locations) for _ in stores})
            for unit, stores in self._stores.items()
        }
        return self.holders != before

    def weigh(self) -> None:
        """Read the bytes of each unit in its checkpoint, all retained versions together, if there
        is ``bytes_in``.

        This lists each unit's folders, so call it before a change only. Units that cannot be read
        are omitted.
        """
        if self._bytes_in is None:
            return
        read = {
            unit: [_size(self._bytes_in, folder) for folder in folders]
            for unit, folders in self._folders.items()
        }
        self.weights = {
            unit: float(sum(b for b in weight if b is not None))
            for unit, weight in read.items()
            if None not in weight
        }

    def places_to_record(self, now: float) -> Places:
        """Return the locations if they have changed or are an hour old; else nothing."""
        places, (recorded, recorded_s) = places_of(self.holders), self._recorded
        if places == recorded and now - recorded_s < PLACES_S:
            return {}
        self._recorded = places, now
        return places

    def assign(self, assignment: Mapping[Unit, str], hosts: Mapping[str, str]) -> int:
        """Send units to executors and return the number of sent units; units and executors that no
        longer exist are omitted.
        """
        sent = 0
        for unit, executor in assignment.items():
            if unit in self._stores and executor in hosts:
                # All stores: a join has four per partition, and tasks follow all locations.
                for store in self._stores[unit]:
                    self._coordinator.report(store, hosts[executor], executor)
                sent += 1
        return sent


def _size(bytes_in: Callable[[str], int | None], folder: str) -> int | None:
    try:
        return bytes_in(folder)
    except OSError:
        return None


def _common(holders: set[str | None]) -> str | None:
    # While the stores disagree, the next batch may run the partition on any of their executors.
    return holders.pop() if len(holders) == 1 else None
