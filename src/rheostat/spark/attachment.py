"""At most one autoscaler per application of this process."""

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
    """Return the handle that ``begin`` makes and starts, as the one that sizes ``application``; one
    that cannot scale counts as none.

    Another one that still runs is ended first where this one ``replaces`` it, or where it was
    begun as one that ``gives_way`` (``rheostat run`` around a script that attaches by itself);
    raises BadInput where neither is so, or where it does not end.
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
