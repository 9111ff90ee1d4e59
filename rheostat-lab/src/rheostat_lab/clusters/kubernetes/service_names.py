"""The names of services in a Kubernetes on this computer: a file of hosts, which each JVM in a pod
reads at every look-up, as a pod of a real cluster asks its DNS.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.machine.free_ports import LOOPBACK

Key = tuple[str, str]
"""A namespace and a name in it."""


@dataclass(slots=True)
class Names:
    """Services and pods that are known, and the file that says which address a service has.

    A service has the address of the newest pod that it selects: those of Spark's drivers are
    headless and select one.
    """

    file: Path
    _services: dict[Key, Mapping[str, str]] = field(default_factory=dict)
    _pods: dict[Key, tuple[Mapping[str, str], str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def option(self) -> str:
        """The option by which a JVM reads the file."""
        return f"-Djdk.net.hosts.file={self.file}"

    def service(self, namespace: str, name: str, selector: Mapping[str, str] | None) -> None:
        """Learn of a service; one without a selector, or None, is forgotten."""
        with self._lock:
            self._services.pop((namespace, name), None)
            if selector:
                self._services[namespace, name] = selector
            self._write()

    def pod(self, namespace: str, name: str, labels: Mapping[str, str], ip: str) -> None:
        """Learn of a pod that has been given an address."""
        with self._lock:
            self._pods[namespace, name] = (labels, ip)
            self._write()

    def gone(self, namespace: str, name: str) -> None:
        """Forget a pod."""
        with self._lock:
            self._pods.pop((namespace, name), None)
            self._write()

    def text(self) -> str:
        """Return what the file says."""
        here = [f"{LOOPBACK} localhost", f"{LOOPBACK} {socket.gethostname()}"]
        return "\n".join((*here, *self._lines(), ""))

    def _lines(self) -> list[str]:
        lines = []
        for (namespace, name), selector in self._services.items():
            chosen = [
                ip
                for (where, _), (labels, ip) in self._pods.items()
                if where == namespace and selector.items() <= labels.items()
            ]
            name = f"{name}.{namespace}.svc"
            lines += [f"{ip} {name} {name}.cluster.local" for ip in chosen[-1:]]
        return lines

    def _write(self) -> None:
        partial = self.file.with_suffix(".partial")
        partial.write_text(self.text())
        partial.replace(self.file)
