"""Adds a tab to Spark's UI that links to the page of the autoscaler."""

from __future__ import annotations

from typing import Any

from rheostat.spark.internals.compiled_classes import CompiledClasses
from rheostat.spark.internals.gateway import ABSENT, RAISED, Gateway

_PATH = "/autoscaler"
_DEFAULTS = "createRedirectHandler$default$"


class SparkUi:
    """Adds the tab "Autoscaler" to the driver's UI.

    * Calls: ``SparkContext.ui``; of ``WebUI`` ``attachTab`` and ``attachHandler``;
      ``JettyUtils.createRedirectHandler``; Janino's ``SimpleCompiler`` for ``AutoscalerTab``.
    * Without them: the tab is absent, and nothing else changes.
    * Spark 4.3.0 tried.
    """

    def __init__(self, gateway: Gateway, classes: CompiledClasses) -> None:
        self._gateway = gateway
        self._classes = classes

    def link(self, url: str) -> bool:
        """Add the tab, which links to ``url``; return whether it exists now."""
        try:
            return self._link(url)
        except (*ABSENT, *RAISED, OSError):  # this Spark lacks the calls, or its UI is off
            return False

    def _link(self, url: str) -> bool:
        ui = self._gateway.scala_context.ui().get()
        jetty: Any = self._gateway.jvm.org.apache.spark.ui.JettyUtils
        # Versions differ in the number of further arguments, all of which have defaults.
        names = sorted(name for name in dir(jetty) if name.startswith(_DEFAULTS))
        defaults = [getattr(jetty, name)() for name in names]
        handler = jetty.createRedirectHandler(_PATH, url, *defaults)
        # The handler first: a tab without a target is worse than no tab.
        ui.attachHandler(handler)
        ui.attachTab(self._classes.in_driver("AutoscalerTab", ui))
        return True
