"""The queries of all sessions of an application: those of a Spark Connect server's clients, too."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from rheostat.spark.internals.gateway import ABSENT


class EverySession:
    """A session whose ``streams.active`` are the running queries of every session of its
    application; all else is the session's own.

    * Calls: ``SharedState.activeStreamingQueries``, and makes a ``StreamingQueryWrapper`` of each.
    * Without them: the queries of the session itself.
    * Spark 4.3.
    """

    def __init__(self, spark: Any) -> None:
        self._spark = spark

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spark, name)

    def __dir__(self) -> list[str]:
        return [*dir(self._spark), "streams"]

    @property
    def streams(self) -> Any:
        """What a session's ``streams`` is, as far as it is looked at: ``active``."""
        return SimpleNamespace(active=self._active())

    def _active(self) -> list[Any]:
        from pyspark.sql.streaming import StreamingQuery

        jvm = self._spark.sparkContext._jvm
        try:
            running = self._spark._jsparkSession.sharedState().activeStreamingQueries().values()
            executions = [*jvm.java.util.ArrayList(running)]
            return [StreamingQuery(_wrapped(jvm, execution)) for execution in executions]
        except ABSENT:
            return list(self._spark.streams.active)


def _wrapped(jvm: Any, execution: Any) -> Any:
    """Return a query as a session's own ``streams`` would; raises TypeError where Spark has no such
    class.
    """
    package = jvm.org.apache.spark.sql.execution.streaming
    try:
        return package.runtime.StreamingQueryWrapper(execution)
    except TypeError:  # py4j takes the name of a class that is not there for a package
        return package.StreamingQueryWrapper(execution)
