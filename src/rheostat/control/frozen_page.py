"""The page of a job at the end of its journal, as one HTML file that needs no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from rheostat.control.jobs import Job
from rheostat.control.page_text import page_html

_POINTS = 2000
_DECISIONS = 300


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
