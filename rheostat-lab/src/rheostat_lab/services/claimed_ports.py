"""Ports of the loopback interface that a user has named."""

from __future__ import annotations

import errno
import socket

from rheostat.errors import BadInput
from rheostat.machine.free_ports import LOOPBACK, free_port


def claim_port(port: int, purpose: str) -> int:
    """Return ``port`` if a server for ``purpose`` can listen on it; raise ``BadInput`` if not."""
    if not 1 <= port <= 65535:
        raise BadInput(f"the port of {purpose} must be between 1 and 65535, but it is {port}")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers set this, too: a port is usable while its last connections are being closed.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            is_taken = error.errno == errno.EADDRINUSE
            why = (
                "is taken by another program" if is_taken else f"cannot be used ({error.strerror})"
            )
            raise BadInput(
                f"port {port} for {purpose} {why}; name another one, or none to get a free one"
            ) from None
    return port


def given_or_free(port: int | None, purpose: str) -> int:
    """Return the requested port, or a free one; raises ``BadInput`` if it is taken."""
    return free_port() if port is None else claim_port(port, purpose)
