"""TCP ports of the loopback interface, the only one on which local servers listen."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """Return an unused port. Use it at once, because another program may take it."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # With port 0 the kernel chooses, and it rarely repeats a port at once.
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
