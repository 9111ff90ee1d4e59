"""Makes Ctrl-C, a closed terminal and SIGTERM unwind everything that was started."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_S = 1.0


@contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore Ctrl-C, SIGTERM and SIGHUP inside, for example while a cluster is stopped."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set signal handlers
        return
    # Ignore rather than defer: the signal would request the shutdown that is already running.
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def unchanged() -> Iterator[None]:
    """Keep the signal handlers; PySpark replaces that of Ctrl-C with every new context."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def orderly_end(with_parent: bool = False) -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP (``with_parent``: also the parent's death) into SystemExit.

    Further signals are ignored while it unwinds. An ignored SIGHUP (``nohup``) stays ignored.
    """
    handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]

    def end(number: int, _: FrameType | None) -> None:
        # Ignore signals before the unwinding begins: a second Ctrl-C would interrupt it.
        for signal_ in handled:
            signal.signal(signal_, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in handled}
    if with_parent:
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_S)
    # Use a signal, because only it can raise an exception in the main thread.
    os.kill(os.getpid(), signal.SIGTERM)
