"""TCP ports of the loopback interface, the only one on which local servers listen."""

from __future__ import annotations

import errno
import socket

from rheostat.errors import BadInput

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """Return an unused port. Use it at once, because another program may take it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # With port 0 the kernel chooses, and it rarely repeats a port at once.
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


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
