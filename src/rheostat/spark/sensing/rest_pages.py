"""A client for the public REST interface of a driver's UI; absent pages are None."""

from __future__ import annotations

import http.client
import json
import urllib.request
from typing import Any, Protocol

_TIMEOUT_S = 5.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def read_json(url: str, timeout_s: float) -> Any:
    """Return the parsed JSON at a URL, without the user's proxy; None without an answer."""
    try:
        with _OPENER.open(url, timeout=timeout_s) as answer:
            return json.load(answer)
    except (http.client.HTTPException, OSError, ValueError):
        return None


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
        return read_json(f"{self._url}/{page}", self._timeout_s) if self._url else None
