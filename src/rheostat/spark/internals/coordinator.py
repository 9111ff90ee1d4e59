"""The driver's record of state locations, and how it is changed."""

from __future__ import annotations

import functools
from contextlib import suppress
from typing import Any

from rheostat.spark.internals.block_managers import BlockManagers
from rheostat.spark.internals.gateway import ABSENT, Gateway

_STORE = "org.apache.spark.sql.execution.streaming.state.StateStoreProviderId"


class Coordinator:
    """Spark's coordinator of state stores.

    * Calls: ``StreamingQueryManager.stateStoreCoordinator``,
      ``StateStoreCoordinatorRef.getLocation``, ``StateStoreCoordinatorRef.reportActiveInstance``;
      probed by their names on the object. Java's method handles, to query many stores in one
      call; without them each store takes a call.
    * Without them: state stays where Spark puts it, and ``cannot_place`` says so.
    * Spark 3.5 to 4.3 (3.5.7 and 4.3.0 tried).
    """

    def __init__(self, gateway: Gateway, block_managers: BlockManagers) -> None:
        self._gateway, self._jvm = gateway, gateway.jvm
        self._block_managers = block_managers
        self._coordinator: Any = None
        with suppress(*ABSENT):
            self._coordinator = gateway.spark._jsparkSession.streams().stateStoreCoordinator()
        self._nothing = gateway.sequence(())
        self._requested: tuple[Any, ...] | None = None
        self._listed: Any = None
        """The last queried stores, as a Java list."""

    def cannot_place(self) -> str | None:
        """Return why state cannot be placed in this Spark, in one line; None if it can."""
        if self._coordinator is None:
            return (
                "this Spark has no accessible state store coordinator"
                " (StreamingQueryManager.stateStoreCoordinator)"
            )
        # Only the names are checked: calling ``reportActiveInstance`` would change a location.
        missing = {"getLocation", "reportActiveInstance"} - set(dir(self._coordinator))
        if missing:
            return f"this Spark's state store coordinator has no {', '.join(sorted(missing))}"
        if self._block_managers.reachable() is None:
            return (
                "this Spark does not report the hosts of its executors"
                " (BlockManagerMaster.getMemoryStatus)"
            )
        return None

    def store(
        self, state_folder: str, run_id: str, operator: int, partition: int, name: str
    ) -> Any:
        """Return Spark's id of a state store of a query (``StateStoreProviderId``)."""
        store_id, provider_id, uuid = self._names
        store = store_id(state_folder, operator, partition, name)
        return provider_id(store, uuid.fromString(run_id))

    def locations(self, stores: tuple[Any, ...]) -> list[str | None]:
        """Return the executor that holds each store; None if unknown."""
        places = self._places(stores)
        return [None if place is None else executor_at(place) for place in places]

    def _places(self, stores: tuple[Any, ...]) -> list[str | None]:
        if self._look_up is None:
            return [self.place(store) for store in stores]
        if self._requested != stores:
            self._requested, self._listed = stores, self._gateway.listed(stores)
        # The Java list queries all of its stores in one call; from Python each would take two.
        places = self._listed.clone()
        places.replaceAll(self._look_up)
        return [value_of(place) for place in str(places.toString())[1:-1].split(", ") if place]

    def place(self, store: Any) -> str | None:
        """Return a store's location ``executor_<host>_<id>``; None if unknown (``getLocation``)."""
        # The text of the option saves two calls per store (isEmpty and get).
        return value_of(self._coordinator.getLocation(store).toString())

    def report(self, store: Any, host: str, executor: str) -> None:
        """Report where a store is, for the next batch (``reportActiveInstance``).

        From 4.2 on the answer may request a snapshot; it is ignored, and Spark repeats the request.
        """
        self._coordinator.reportActiveInstance(store, host, executor, self._nothing)

    @functools.cached_property
    def _names(self) -> tuple[Any, Any, Any]:
        # Cached, because py4j resolves every part of a name in the JVM.
        state = self._jvm.org.apache.spark.sql.execution.streaming.state
        return state.StateStoreId, state.StateStoreProviderId, self._jvm.java.util.UUID

    @functools.cached_property
    def _look_up(self) -> Any:
        """Return ``getLocation`` as a Java function; None if this Spark has none."""
        named = self._gateway.class_named
        try:
            invoke = self._jvm.java.lang.invoke
            returning = invoke.MethodType.methodType(named("scala.Option"), named(_STORE))
            lookup = invoke.MethodHandles.publicLookup()
            handle = lookup.bind(self._coordinator, "getLocation", returning)
            function = named("java.util.function.UnaryOperator")
            return invoke.MethodHandleProxies.asInterfaceInstance(function, handle)
        except ABSENT:
            return None


def value_of(option: str) -> str | None:
    """Return the value in the text of a Scala option, ``Some(value)``; None for ``None``."""
    return option[len("Some(") : -1] if option.startswith("Some(") else None


def executor_at(place: str) -> str:
    """Return the executor of ``executor_<host>_<id>``."""
    # From the right, because a host name may contain underscores.
    return place.rpartition("_")[2]
