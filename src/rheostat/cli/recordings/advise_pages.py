"""Pages of the advice: a list of the queries, and the page of each with the charts of its log."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rheostat.control.frozen_page import frozen_html
from rheostat.control.journal_job import JournalJob
from rheostat.control.page_text import page_file
from rheostat.journal.starts import SHADOW, Start, append_event

INDEX, SEGMENT = "index.html", "segment-00000.jsonl"
_SHELL = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Rheostat: advice from event logs</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><style>{style}</style></head>
<body><header class="bar"><b>Rheostat</b><span>advice from event logs</span></header>
<main><section class="card"><h2>{title}</h2><div class="scroll" tabindex="0"><table><thead><tr>
{head}</tr></thead><tbody>{body}</tbody></table></div></section></main></body></html>
"""


def write_pages(
    folder: Path, rows: Sequence[Mapping[str, Any]], head: Sequence[str], title: str, slo_s: float
) -> None:
    """Write ``index.html`` and a page for each query with a recording.

    ``rows`` have ``label``, ``cells`` below ``head`` without its first column, ``lines`` of advice,
    and ``recording``: the lines of a journal.
    """
    folder.mkdir(parents=True, exist_ok=True)
    body = []
    for number, row in enumerate(rows):
        label = escape(row["label"])
        if row["recording"]:
            name = f"{number:03d}-{re.sub('[^A-Za-z0-9]+', '-', row['label'])[:60]}.html"
            (folder / name).write_text(_page(row, head, slo_s), encoding="utf-8")
            label = f'<a href="{name}">{label}</a>'
        cells = "".join(f'<td class="n">{escape(cell)}</td>' for cell in row["cells"])
        body.append(f'<tr><th scope="row">{label}</th>{cells}</tr>')
    style = page_file("page.css")
    columns = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    text = _SHELL.format(style=style, title=escape(title), head=columns, body="".join(body))
    (folder / INDEX).write_text(text, encoding="utf-8")


def _page(row: Mapping[str, Any], head: Sequence[str], slo_s: float) -> str:
    """Return the page of one query: its log as a journal, with the advice above the charts."""
    lines = row["recording"]
    first = json.loads(lines[0])
    sizes = [json.loads(line)["observation"]["executors"] for line in lines]
    with tempfile.TemporaryDirectory(prefix="rheostat-advice-") as place:
        journal = Path(place)
        (journal / SEGMENT).write_text("\n".join(lines) + "\n", encoding="utf-8")
        start = Start(
            t_s=first["t_s"],
            mode=SHADOW,
            policy="none: recorded by Spark",
            slo_s=slo_s,
            min_executors=min(sizes),
            max_executors=max(sizes),
            interval_s=60.0,
        )
        append_event(journal, start)
        facts = {
            "kind": "facts",
            "title": "Advice",
            "rows": [*zip(head[1:], row["cells"], strict=True)],
        }
        notices = [
            {"kind": "notice", "tone": "", "title": "Note:", "text": line} for line in row["lines"]
        ]
        health = {"word": "Not scaling", "sentence": "Recorded by Spark's event log.", "action": ""}
        return frozen_html(
            JournalJob(journal, name=row["label"]),
            {"name": row["label"], "health": health},
            [facts, *notices],
        )
