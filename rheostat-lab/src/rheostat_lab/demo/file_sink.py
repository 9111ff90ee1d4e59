"""The files that a stream's file sink has committed, according to the sink's log."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from rheostat.errors import RheostatError

LOG = "_spark_metadata"
_ENTRY = re.compile(r"(\d+)(\.compact)?")


def committed_files(sink: Path) -> list[Path]:
    """Return the data files of the committed batches, without the leftovers of killed tasks.

    The log has one file per batch, ``N`` or ``N.compact``; a compact file covers all batches up to
    its own. The first line is ``v1``; each other line is a file that was added or deleted. Source:
    Spark's ``FileStreamSinkLog``. Raises RheostatError for a log that is absent, has a gap or
    another version, is truncated, or names a missing file.
    """
    entries = _entries(sink / LOG)
    added: dict[Path, None] = {}
    deleted: set[Path] = set()
    for entry in entries:
        for status in _statuses(entry):
            path = _path(status["path"])
            if status.get("action", "add") == "delete":
                deleted.add(path)
            else:
                added[path] = None
    files = [path for path in added if path not in deleted]
    lost = [path for path in files if not path.is_file()]
    if lost:
        raise RheostatError(f"the sink's log names {lost[0]}, which is not there")
    return files


def _entries(log: Path) -> list[Path]:
    """Return the log's files that count: the last compact file and all after it."""
    if not log.is_dir():
        raise RheostatError(f"{log.parent} has no {LOG}: no batch was committed there")
    plain, compact = _numbered(log, compact=False), _numbered(log, compact=True)
    # The compact file covers older files, which Spark may have deleted.
    last_compact = max(compact, default=-1)
    rest = sorted(batch for batch in plain if batch > last_compact)
    expected = list(range(last_compact + 1, last_compact + 1 + len(rest)))
    # A gap is a lost log file; otherwise its batch would count as one that wrote nothing.
    if rest != expected:
        lost = next(batch for batch, there in zip(expected, rest, strict=True) if batch != there)
        raise RheostatError(f"the log of batch {lost} is not in {log}")
    return [
        *(compact[last_compact] for _ in range(last_compact >= 0)),
        *(plain[batch] for batch in rest),
    ]


def _numbered(log: Path, compact: bool) -> dict[int, Path]:
    matches = ((_ENTRY.fullmatch(path.name), path) for path in log.iterdir())
    return {int(match[1]): path for match, path in matches if match and bool(match[2]) == compact}


def _statuses(entry: Path) -> list[dict[str, Any]]:
    version, *lines = entry.read_text(encoding="utf-8").split("\n")
    if version != "v1":
        raise RheostatError(f"{entry} is of version {version!r}; only 'v1' is known")
    try:
        return [json.loads(line) for line in lines if line]
    except ValueError:
        raise RheostatError(f"{entry} is not a complete log of a batch") from None


def _path(uri: str) -> Path:
    """Return the local path of a URI such as ``file:///a%20b``."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path) if parts.scheme else uri)
