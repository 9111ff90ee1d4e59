"""Objects of a Kubernetes on this computer, made from what a manifest says."""

from __future__ import annotations

import urllib.error
from collections.abc import Mapping
from typing import Any, Protocol

_THERE = 409


class Api(Protocol):
    """The API server, as ``ControlPlane`` has it."""

    def request(self, verb: str, path: str, body: Any = None) -> Any:
        """Ask it; raises ``OSError`` where it refuses."""
        ...


def place(made: Mapping[str, Any]) -> str:
    """Return the path of the objects of a manifest's kind, in its namespace where it has one."""
    version, kind = made["apiVersion"], made["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    namespace = made["metadata"].get("namespace")
    within = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{within}/{kind.lower()}s"


def create(api: Api, *manifests: Mapping[str, Any]) -> None:
    """Create the objects in their order; one that is there already stays as it is. Raises
    ``OSError`` where one is refused.
    """
    for made in manifests:
        try:
            api.request("POST", place(made), made)
        except urllib.error.HTTPError as refused:
            if refused.code != _THERE:
                raise


def delete(api: Api, made: Mapping[str, Any]) -> None:
    """Delete an object; one that is gone is no fault."""
    try:
        api.request("DELETE", f"{place(made)}/{made['metadata']['name']}")
    except urllib.error.HTTPError as refused:
        if refused.code != 404:
            raise
