"""Events as messages to a webhook, sent from a separate thread so that no tick waits."""

from __future__ import annotations

import json
import queue
import threading
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any
from urllib.error import HTTPError

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from rheostat.errors import RheostatError
from rheostat.loop import FaultLog

_TRIES, _LONGEST_PAUSE_S = 6, 60.0
_END_S, _ANSWER_S = 2.0, 10.0
Event = Mapping[str, Any]


def sentence(event: Event) -> str:
    """Return an event as one line of plain text."""
    job = event["application"] or "application"
    if event["event"] in ("rescale", "advice"):
        verb = "rescales" if event["event"] == "rescale" else "should rescale"
        sizes = f"{event['before']} to {event['target']} executors"
        return f"Rheostat: {job} {verb} from {sizes}: {event['reason']}"
    return f"Rheostat: {job}: {event['event']}: {event['detail'] or event['reason']}"


def _teams(event: Event) -> Mapping[str, Any]:
    block = {"type": "TextBlock", "text": sentence(event), "wrap": True}
    card = {"type": "AdaptiveCard", "version": "1.4", "body": [block]}
    kind = "application/vnd.microsoft.card.adaptive"
    return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}


BODIES: Mapping[str, Callable[[Event], Mapping[str, Any]]] = {
    "json": dict,
    "slack": lambda event: {"text": sentence(event)},
    "teams": _teams,
}
"""The body of a message, by the format of its receiver."""


class Webhook:
    """Sends events to ``url`` one after the other, with retries. At most ``most`` events are
    queued; further ones are dropped. Failures are logged once per kind, without the URL, which is a
    secret.
    """

    def __init__(self, url: str, body: str = "json", most: int = 100) -> None:
        self._url, self._body = url, BODIES[body]
        self._waiting: queue.Queue[Event | None] = queue.Queue(most)
        self._faults = FaultLog("the webhook failed; scaling continues")
        self._retrying = Retrying(
            retry=retry_if_exception(_may_pass),
            wait=wait_random_exponential(max=_LONGEST_PAUSE_S),
            stop=stop_after_attempt(_TRIES),
            reraise=True,
        )
        self._thread = threading.Thread(target=self._run, name="rheostat-webhook", daemon=True)
        self._thread.start()

    def send(self, event: Event) -> None:
        """Queue an event; returns at once."""
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            self._faults.warn(RheostatError("events are dropped, because the receiver is too slow"))

    def close(self) -> None:
        """Send the queued events, for at most two seconds."""
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            return
        self._thread.join(_END_S)

    def _run(self) -> None:
        while (event := self._waiting.get()) is not None:
            try:
                self._retrying(self._post, event)
            except Exception as fault:
                status = f" {fault.code}" if isinstance(fault, HTTPError) else ""
                self._faults.warn(RheostatError(f"{type(fault).__name__}{status}"))

    def _post(self, event: Event) -> None:
        body = json.dumps(self._body(event)).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310  (checked: HTTP)
        with urllib.request.urlopen(request, timeout=_ANSWER_S):  # noqa: S310
            pass


def _may_pass(fault: BaseException) -> bool:
    """Return whether a retry of the same message may succeed."""
    if isinstance(fault, HTTPError):
        return fault.code == 429 or fault.code >= 500
    return isinstance(fault, OSError)
