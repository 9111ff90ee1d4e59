"""The page as one HTML text: live without data, or frozen with all its data."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

_PARTS = re.compile(r"\{(frozen|[a-z]+\.(?:css|js))\}")
_BLOCKS = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)


def page_html(frozen: Mapping[str, Any] | None = None) -> str:
    """Return the page; with ``frozen`` it needs no server."""
    # Escape "<", so that no text of a job can end the script element that contains it.
    data = json.dumps(frozen, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return _PARTS.sub(
        lambda part: data if part[1] == "frozen" else page_file(part[1]), page_file("page.html")
    )


@functools.cache
def live_page() -> tuple[str, str]:
    """Return the live page and its content security policy: only its own scripts and styles run."""
    html = page_html()
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, text in _BLOCKS.findall(html):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{digest}'")
    return html, (
        f"default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action"
        f" 'none'; frame-ancestors 'self'; script-src {' '.join(hashes['script'])};"
        f" style-src {' '.join(hashes['style'])}"
    )


def page_file(name: str) -> str:
    """Return a file of the page, such as its style sheet."""
    return (files("rheostat.control") / "page" / name).read_text(encoding="utf-8")
