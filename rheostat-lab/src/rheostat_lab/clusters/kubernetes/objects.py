"""Creates and deletes objects of a local Kubernetes from their manifests."""

from __future__ import annotations

import urllib.error
from collections.abc import Mapping
from typing import Any, Protocol

_THERE = 409


class Api(Protocol):
    """The API server, as in ``ControlPlane``."""

    def request(self, verb: str, path: str, body: Any = None) -> Any:
        """Send a request; raises OSError if the server rejects it."""


def place(made: Mapping[str, Any]) -> str:
    """Return the API path for objects of a manifest's kind, in its namespace if it has one."""
    version, kind = made["apiVersion"], made["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = made["metadata"].get("namespace")
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{within}/{kind.lower()}s"


def create(api: Api, *manifests: Mapping[str, Any]) -> None:
    """Create the objects that do not exist, in order. Raises OSError if one is rejected."""
    for made in manifests:
        try:
            api.request("POST", place(made), made)
        except urllib.error.HTTPError as refused:
            if refused.code != _THERE:
                raise


def delete(api: Api, made: Mapping[str, Any]) -> None:
    """Delete an object; a missing object is not an error."""
    try:
        api.request("DELETE", f"{place(made)}/{made['metadata']['name']}")
    except urllib.error.HTTPError as refused:
        if refused.code != 404:
            raise
