"""The HTML page of the advice: a list of queries that opens the charts of each event log."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rheostat.control.journal_job import JournalJob
from rheostat.control.page_text import frozen_job, frozen_list
from rheostat.journal.starts import SHADOW, Start, append_event

SEGMENT = "segment-00000.jsonl"
_POINTS = 600


def page_of(
    rows: Sequence[Mapping[str, Any]], head: Sequence[str], title: str, slo_s: float
) -> str:
    """Return one page that needs no server: the list, and charts for queries with a recording.

    ``head`` are the column titles. Each of ``rows`` has ``label`` (first column), ``cells`` (the
    others), ``lines`` of advice, and ``recording``: the lines of a journal.
    """
    pages = {
        str(number): _page(row, head, slo_s) for number, row in enumerate(rows) if row["recording"]
    }
    listed = {
        "title": title,
        "columns": list(head),
        "rows": [
            {
                "id": str(number) if str(number) in pages else None,
                "cells": [row["label"], *row["cells"]],
            }
            for number, row in enumerate(rows)
        ],
        "lines": [line for row in rows for line in row["lines"]],
    }
    return frozen_list(listed, pages)


def _page(row: Mapping[str, Any], head: Sequence[str], slo_s: float) -> dict[str, Any]:
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
        return frozen_job(
            JournalJob(journal, name=row["label"]),
            {"name": row["label"], "health": health},
            [facts, *notices],
            _POINTS,
        )
