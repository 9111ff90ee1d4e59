"""Sets how long tasks wait for their preferred executor."""

from __future__ import annotations

from rheostat.spark.internals.gateway import ABSENT, Gateway

_WAIT = "spark.locality.wait"
_PROCESS_WAIT = "spark.locality.wait.process"


class LocalityWaits:
    """The waits in force; None restores the application's settings.

    * Calls: ``SparkContext.conf``, which ``TaskSetManager`` reads for each stage.
    * Without it: the application's waits remain; probed by the call itself.
    * Spark 3.5.7 and 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        settings = gateway.context.getConf()
        self._own = str(settings.get(_WAIT, "3s"))
        self._own_process = str(settings.get(_PROCESS_WAIT, self._own))

    def set_wait(self, wait: str | None) -> bool:
        """Set how long later tasks wait for a preferred executor; False if impossible."""
        return self._set(_WAIT, wait or self._own)

    def set_process_wait(self, wait: str | None) -> bool:
        """Set how long tasks wait for their exact executor; False if impossible."""
        return self._set(_PROCESS_WAIT, wait or self._own_process)

    def _set(self, name: str, value: str) -> bool:
        try:
            self._gateway.scala_context.conf().set(name, value)
        except ABSENT:
            return False
        return True
