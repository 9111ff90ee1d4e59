"""Ensures at most one autoscaler per application of this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from rheostat.errors import BadInput
from rheostat.spark.handle import Handle

_log = logging.getLogger("rheostat")


@dataclass(frozen=True, slots=True)
class _Attachment:
    handle: Handle
    gives_way: bool


_attachments: dict[str, _Attachment] = {}
_lock = threading.Lock()


def take(
    application: str, begin: Callable[[], Handle], replaces: bool = False, gives_way: bool = False
) -> Handle:
    """Return the handle that ``begin`` makes and starts, registered as the autoscaler of
    ``application`` if it can scale.

    A running one is stopped first if the new one ``replaces`` it, or if it was registered with
    ``gives_way`` (``rheostat run`` around a script that attaches by itself). Raises BadInput if
    neither holds, or if it does not stop.
    """
    with _lock:
        other = _attachments.get(application)
        if other is not None and other.handle.running:
            _end(other, replaces)
        handle = begin()
        if handle.capabilities.can_scale:
            _attachments[application] = _Attachment(handle, gives_way)
        return handle


def _end(other: _Attachment, replaces: bool) -> None:
    journal = other.handle.journal
    if not (replaces or other.gives_way):
        raise BadInput(
            f"this application is already sized by an autoscaler with the journal {journal}; stop"
            " that handle first, or: attach(..., replace=True)"
        )
    other.handle.stop()
    if other.handle.running:
        raise BadInput(
            f"the autoscaler with the journal {journal} does not end within 10 s; attach again when"
            " it has"
        )
    if other.gives_way:
        _log.warning(
            "rheostat: the script attaches by itself: its settings take the place of those of"
            " rheostat run"
        )
