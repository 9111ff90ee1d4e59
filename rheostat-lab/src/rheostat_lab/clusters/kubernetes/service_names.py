"""The names of services in a local Kubernetes: a hosts file, which each JVM in a pod reads at every
lookup, in place of a DNS.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rheostat.machine.free_ports import LOOPBACK

Key = tuple[str, str]
"""A namespace and a name within it."""


@dataclass(slots=True)
class Names:
    """The known services and pods, and the file that maps services to addresses.

    A service has the address of the newest pod that it selects; the services of Spark's drivers are
    headless and select one pod.
    """

    file: Path
    _services: dict[Key, Mapping[str, str]] = field(default_factory=dict)
    _pods: dict[Key, tuple[Mapping[str, str], str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def option(self) -> str:
        """The JVM option to read the file."""
        return f"-Djdk.net.hosts.file={self.file}"

    def service(self, namespace: str, name: str, selector: Mapping[str, str] | None) -> None:
        """Add a service; one whose selector is None or empty is removed."""
        with self._lock:
            self._services.pop((namespace, name), None)
            if selector:
                self._services[namespace, name] = selector
            self._write()

    def pod(self, namespace: str, name: str, labels: Mapping[str, str], ip: str) -> None:
        """Add a pod that has been given an address."""
        with self._lock:
            self._pods[namespace, name] = (labels, ip)
            self._write()

    def remove(self, namespace: str, name: str) -> None:
        """Remove a pod."""
        with self._lock:
            self._pods.pop((namespace, name), None)
            self._write()

    def text(self) -> str:
        """Return the contents of the file."""
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
