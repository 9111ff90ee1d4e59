"""Reads executors, jobs and stages in the driver without a request to its UI."""

from __future__ import annotations

import functools
import json
from typing import Any
from urllib.parse import parse_qs

from py4j.protocol import Py4JError, Py4JJavaError

from rheostat.spark.internals.gateway import Gateway
from rheostat.spark.sensing.rest import Pages

_UNAVAILABLE = (Py4JError, OSError, LookupError)


class StatusStore:
    """Serves pages of the driver's REST interface, in its format, from the store behind it; needs
    no UI, whose first request alone costs the driver more than a CPU second.

    * Calls: ``SparkContext.statusStore``; of ``AppStatusStore`` ``executorList``, ``job``,
      ``jobsList``, ``stageData``; ``JacksonMessageWriter.mapper``, which writes that interface's
      JSON.
    * Without them: the REST interface is used.
    * Spark 3.5 to 4.3.
    """

    def __init__(self, gateway: Gateway, otherwise: Pages) -> None:
        self._gateway = gateway
        self._otherwise = otherwise

    def get(self, page: str) -> Any:
        """Return a REST page's JSON, such as ``executors`` or ``jobs/ID``; None if it is absent."""
        noun, _, query = page.partition("?")
        try:
            value = self._page(noun, parse_qs(query))
            return json.loads(self._mapper.writeValueAsString(value))
        except Py4JJavaError:  # no such job or stage
            return None if self.answers else self._otherwise.get(page)
        except _UNAVAILABLE:
            return self._otherwise.get(page)

    @functools.cached_property
    def answers(self) -> bool:
        """Whether this Spark has the calls."""
        try:
            return "executorList" in dir(self._store) and bool(self._mapper)
        except _UNAVAILABLE:
            return False

    def _page(self, page: str, query: dict[str, list[str]]) -> Any:
        match page.split("/"):
            case ["executors" | "allexecutors"]:
                return self._store.executorList(page == "executors")
            case ["jobs"]:
                status = self._gateway.jvm.org.apache.spark.JobExecutionStatus
                only = [status.fromString(name) for name in query.get("status", ())]
                return self._store.jobsList(self._gateway.listed(only))
            case ["jobs", number]:
                return self._store.job(int(number))
            case ["stages", number]:
                details, quantiles = query.get("details") == ["true"], query.get("quantiles", [""])
                shares = [float(share) for share in quantiles[0].split(",") if share]
                return self._store.stageData(
                    int(number),
                    details,
                    self._gateway.listed(()),
                    bool(shares),
                    self._gateway.array(self._gateway.jvm.double, shares),
                )
            case _:
                raise LookupError(page)  # a page that is not read from the store

    @property
    def _store(self) -> Any:
        return self._gateway.scala_context.statusStore()

    @functools.cached_property
    def _mapper(self) -> Any:
        return self._gateway.jvm.org.apache.spark.status.api.v1.JacksonMessageWriter().mapper()
