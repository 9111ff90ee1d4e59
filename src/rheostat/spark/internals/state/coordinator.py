"""Where the driver thinks that state is, and how it is told another place."""

from __future__ import annotations

from typing import Any

from rheostat.spark.internals.executors.block_managers import BlockManagers
from rheostat.spark.internals.gateway import ABSENT, Gateway


class Coordinator:
    """Spark's coordinator of state stores.

    * Calls: ``StreamingQueryManager.stateStoreCoordinator``,
      ``StateStoreCoordinatorRef.getLocation``, ``StateStoreCoordinatorRef.reportActiveInstance``;
      told by their names on the object.
    * Without them: state stays where Spark puts it, and ``cannot_place`` says so.
    * Spark 3.5 to 4.3 (3.5.7 and 4.3.0 tried).
    """

    def __init__(self, gateway: Gateway, block_managers: BlockManagers) -> None:
        self._jvm = gateway.jvm
        self._block_managers = block_managers
        self._coordinator = _coordinator_of(gateway.spark)
        self._nothing = gateway.sequence(())

    def cannot_place(self) -> str | None:
        """Return why state cannot be placed in this Spark, in one line; None if it can."""
        if self._coordinator is None:
            return (
                "this Spark has no state store coordinator to be asked"
                " (StreamingQueryManager.stateStoreCoordinator)"
            )
        # Names are looked up, not called: a report for a test would be a report.
        missing = {"getLocation", "reportActiveInstance"} - set(dir(self._coordinator))
        if missing:
            return f"this Spark's state store coordinator has no {', '.join(sorted(missing))}"
        if self._block_managers.reachable() is None:
            return (
                "this Spark does not tell the hosts of its executors"
                " (BlockManagerMaster.getMemoryStatus)"
            )
        return None

    def store(
        self, state_folder: str, run_id: str, operator: int, partition: int, name: str
    ) -> Any:
        """Return Spark's name of one state store of a running query, for ``location`` and
        ``report`` (``StateStoreProviderId``).
        """
        state = self._jvm.org.apache.spark.sql.execution.streaming.state
        store = state.StateStoreId(state_folder, operator, partition, name)
        return state.StateStoreProviderId(store, self._jvm.java.util.UUID.fromString(run_id))

    def location(self, store: Any) -> str | None:
        """Return the executor that holds a store; None if none is known."""
        place = self.place(store)
        return None if place is None else executor_at(place)

    def place(self, store: Any) -> str | None:
        """Return where a store is as tasks prefer it, ``executor_<host>_<id>``; None if that is not
        known (``StateStoreCoordinatorRef.getLocation``).
        """
        # The text of the option: isEmpty and get would be two calls more for each store.
        return value_of(self._coordinator.getLocation(store).toString())

    def report(self, store: Any, host: str, executor: str) -> None:
        """Say where a store lives now; the next batch runs its task there
        (``StateStoreCoordinatorRef.reportActiveInstance``).

        The answer is dropped. From 4.2 on it may ask for a snapshot; the coordinator keeps asking
        until it has one, so the executor hears it with its own next report.
        """
        self._coordinator.reportActiveInstance(store, host, executor, self._nothing)


def _coordinator_of(spark: Any) -> Any:
    try:
        return spark._jsparkSession.streams().stateStoreCoordinator()
    except ABSENT:
        return None


def value_of(option: str) -> str | None:
    """Return what is in the text of a Scala option: ``Some(value)`` or ``None``."""
    return option[len("Some(") : -1] if option.startswith("Some(") else None


def executor_at(place: str) -> str:
    """Return the executor of ``executor_<host>_<id>``."""
    # From the right, because a host name may have underscores.
    return place.rpartition("_")[2]
