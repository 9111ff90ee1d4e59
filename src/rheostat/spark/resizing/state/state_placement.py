"""Where the state partitions of the running queries are, and where they are sent.

A stateful task prefers the executor that holds its stores, as the driver's
``StateStoreCoordinator`` remembers it. Telling the coordinator another executor right after a batch
has ended moves the partition: the next batch runs its task there, and its first act is to load the
state from the checkpoint. The old holder forgets it at its next maintenance.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol

from rheostat.spark.sensing.queries.state_stores import Operator
from rheostat.state.assignment import Unit


class Coordinator(Protocol):
    """Knows which executor holds a store, and can be told."""

    def store(
        self, state_folder: str, run_id: str, operator: int, partition: int, name: str
    ) -> Any:
        """Name a store."""
        ...

    def locations(self, stores: tuple[Any, ...]) -> list[str | None]:
        """Return the executor of each of the stores, None where none is known."""
        ...

    def report(self, store: Any, host: str, executor: str) -> None:
        """Say which executor has it."""
        ...


class Placement:
    """The stores of all running queries, by unit: everything that one partition of one query keeps
    moves together.

    ``bytes_in`` returns the bytes below a folder of the checkpoint; without it all units count the
    same. ``ranges`` asks for contiguous ranges of each query's partitions.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        bytes_in: Callable[[str], int | None] | None = None,
        ranges: bool = False,
    ) -> None:
        self._coordinator = coordinator
        self._bytes_in = bytes_in
        self.ranges = ranges
        self._stores: dict[Unit, tuple[Any, ...]] = {}
        self._all: tuple[Any, ...] = ()
        self._folders: dict[Unit, list[str]] = {}

    @property
    def units(self) -> Collection[Unit]:
        """The units that are known."""
        return self._stores.keys()

    def learn(self, run_id: str, state_folder: str, operators: Iterable[Operator]) -> None:
        """Take the stores of a run of a query; a run's stores never change."""
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
        self._keep(self._stores | {unit: tuple(of_unit) for unit, of_unit in stores.items()})

    def forget(self, running: Collection[str]) -> None:
        """Drop the runs that have ended: a query that is started again has a new run and no
        places.
        """
        self._keep({unit: stores for unit, stores in self._stores.items() if unit[0] in running})
        self._folders = {
            unit: folders for unit, folders in self._folders.items() if unit[0] in running
        }

    def holders(self) -> dict[Unit, str | None]:
        """Return the executor of each unit; None where none is known, or where its stores are not
        all on the same.
        """
        # All in one question: it is asked every second while state moves.
        locations = iter(self._coordinator.locations(self._all))
        return {
            unit: _common({next(locations) for _ in stores})
            for unit, stores in self._stores.items()
        }

    def weights(self) -> dict[Unit, float] | None:
        """Return the bytes of each unit in its checkpoint, all kept versions together; None where
        they are not asked for.

        Costs a listing of each unit's folders: to be asked before a change, not in every step.
        Units that cannot be read are left out.
        """
        if self._bytes_in is None:
            return None
        read = {
            unit: [_size(self._bytes_in, folder) for folder in folders]
            for unit, folders in self._folders.items()
        }
        return {
            unit: float(sum(b for b in weight if b is not None))
            for unit, weight in read.items()
            if None not in weight
        }

    def assign(self, assignment: Mapping[Unit, str], hosts: Mapping[str, str]) -> int:
        """Send units to executors and return how many; units and executors that have gone meanwhile
        are left out.
        """
        sent = 0
        for unit, executor in assignment.items():
            if unit in self._stores and executor in hosts:
                # All stores, not the first: a join has four a partition, and tasks go by the places
                # of all.
                for store in self._stores[unit]:
                    self._coordinator.report(store, hosts[executor], executor)
                sent += 1
        return sent

    def _keep(self, stores: dict[Unit, tuple[Any, ...]]) -> None:
        self._stores = stores
        self._all = tuple(itertools.chain.from_iterable(stores.values()))


def _size(bytes_in: Callable[[str], int | None], folder: str) -> int | None:
    try:
        return bytes_in(folder)
    except OSError:
        return None


def _common(holders: set[str | None]) -> str | None:
    # While the stores disagree, the next batch may run the partition on any of their executors.
    return holders.pop() if len(holders) == 1 else None
