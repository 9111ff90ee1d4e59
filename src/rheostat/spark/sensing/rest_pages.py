"""A client for the public REST interface of a driver's UI; absent pages are None."""

from __future__ import annotations

import http.client
import json
import urllib.request
from typing import Any, Protocol

_TIMEOUT_S = 5.0
_OPENER = urllib.request.build_opener(
    urllib.request.ProxyHandler({})
)  # the driver is never behind the user's proxy


class Pages(Protocol):
    """Returns pages of an application's REST interface."""

    def get(self, page: str) -> Any:
        """Return the parsed JSON of a page; None without an answer or without such a page."""


class Rest:
    """Reads ``/api/v1/applications/ID/...`` of the driver's UI; a page costs about 2 ms of the
    driver's CPU, more while its JVM is young.
    """

    def __init__(self, ui_url: str | None, application: str, timeout_s: float = _TIMEOUT_S) -> None:
        self._url = f"{ui_url}/api/v1/applications/{application}" if ui_url else None
        self._timeout_s = timeout_s

    def get(self, page: str) -> Any:
        """Return the parsed JSON of a page; None without the UI, an answer or the page."""
        # Without a UI no request may wait for its time-out at every tick.
        if self._url is None:
            return None
        try:
            with _OPENER.open(f"{self._url}/{page}", timeout=self._timeout_s) as answer:
                return json.load(answer)
        except (http.client.HTTPException, OSError, ValueError):
            return None
