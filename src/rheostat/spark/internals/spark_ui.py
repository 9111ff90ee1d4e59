"""A tab of Spark's UI that leads to the page of the autoscaler."""

from __future__ import annotations

from typing import Any

from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import ABSENT, RAISED, Gateway

_PATH = "/autoscaler"
_DEFAULTS = "createRedirectHandler$default$"


class SparkUi:
    """Adds the tab "Autoscaler" to the UI of the driver.

    * Calls: ``SparkContext.ui``; of ``WebUI`` ``attachTab`` and ``attachHandler``;
      ``JettyUtils.createRedirectHandler``; Janino's ``SimpleCompiler`` for ``AutoscalerTab``.
    * Without them: there is no tab, and nothing else changes.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, classes: CompiledClasses) -> None:
        self._gateway = gateway
        self._classes = classes

    def link(self, url: str) -> bool:
        """Add the tab, which leads to ``url``; return whether there is one now."""
        try:
            return self._link(url)
        except (*ABSENT, *RAISED, OSError):  # this Spark has no such calls, or its UI is off
            return False

    def _link(self, url: str) -> bool:
        ui = self._gateway.scala_context.ui().get()
        jetty: Any = self._gateway.jvm.org.apache.spark.ui.JettyUtils
        # Versions differ in how many arguments follow; all of them have defaults.
        names = sorted(name for name in dir(jetty) if name.startswith(_DEFAULTS))
        defaults = [getattr(jetty, name)() for name in names]
        handler = jetty.createRedirectHandler(_PATH, url, *defaults)
        # The handler first: a tab that leads nowhere is worse than none.
        ui.attachHandler(handler)
        ui.attachTab(self._classes.in_driver("AutoscalerTab", ui))
        return True
