"""The page as one HTML text: live without data, or frozen with all its data."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from rheostat.control.jobs import Job

_PARTS = re.compile(r"\{(frozen|[a-z]+\.(?:css|js))\}")
_BLOCKS = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)

_POINTS = 2000
_DECISIONS = 300


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


def frozen_html(
    job: Job, changed: Mapping[str, Any] | None = None, sections: Sequence[Mapping[str, Any]] = ()
) -> str:
    """Return the page of one job as HTML; the arguments are those of ``frozen_job``."""
    shown = frozen_job(job, changed, sections)
    names = [{"id": "job", "name": shown["overview"]["name"]}]
    return page_html({"version": version("rheostat"), "jobs": names, **shown})


def frozen_list(listed: Mapping[str, Any], pages: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one page for many jobs: a list that leads to the charts of each.

    ``listed`` has ``title``, ``columns``, ``rows`` (``id`` of a page or None, and ``cells``) and
    ``lines`` below; ``pages`` are results of ``frozen_job``.
    """
    names = [{"id": name, "name": page["overview"]["name"]} for name, page in pages.items()]
    return page_html(
        {"version": version("rheostat"), "jobs": names, "list": listed, "pages": pages}
    )


def frozen_job(
    job: Job,
    changed: Mapping[str, Any] | None = None,
    sections: Sequence[Mapping[str, Any]] = (),
    points: int = _POINTS,
) -> dict[str, Any]:
    """Return the complete data of a job's page; ``changed`` replaces values of the overview.

    ``sections`` appear above the charts: notices (``kind`` ``notice`` with ``tone``, ``title``
    and ``text``), tables (``columns`` and ``rows``) and facts (``rows`` of name and value);
    ``open`` false shows only the title. ``points`` is the number of points of a chart.
    """
    decisions = job.decisions(None, None)[:_DECISIONS]
    overview = {**job.overview(), **(changed or {})}
    moments = {entry.get("end_s", entry["t_s"]) for entry in decisions}
    last_s = overview["last_t_s"]
    records = [job.record(t_s) for t_s in sorted(moments | ({last_s} if last_s else set()))]
    return {
        "overview": overview,
        "series": job.series(None, None, points),
        "decisions": decisions,
        "records": [record for record in records if record],
        "sections": list(sections),
    }
