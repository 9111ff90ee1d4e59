"""Calls a driver's control API, over TLS if the address begins with ``https://``; OpenSSL's trusted
certificates apply, so ``SSL_CERT_FILE`` can add others.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ENDPOINT = re.compile(r"(?:https?://)?([\w.-]+|\[[0-9a-f:]+\]):(\d{1,5})/?", re.IGNORECASE)
_TIMEOUT_S = 5.0


def call_driver(address: str, path: str, token: str | None = None, method: str = "GET") -> Any:
    """Return the answer of the driver at ``HOST:PORT`` or ``https://HOST:PORT``; raises HTTPError
    if it refuses, OSError or ValueError if it does not answer.
    """
    url = address if "://" in address else f"http://{address}"
    request = Request(f"{url.rstrip('/')}/{path}", method=method)  # noqa: S310  (an ENDPOINT)
    if method != "GET":
        request.data = b"{}"
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urlopen(request, timeout=_TIMEOUT_S) as answer:  # noqa: S310
            return json.load(answer)
    except HTTPError as refusal:
        with suppress(ValueError, KeyError, TypeError):
            refusal.msg = json.load(refusal)["error"]
        raise
    except HTTPException as fault:
        raise OSError(f"it is not an HTTP response: {fault!r}") from None
