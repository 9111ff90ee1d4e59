"""The fitted parameters of the package; ``python -m rheostat_lab.thesis.fit`` fits them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from rheostat.errors import BadInput
from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.thesis.thesis_runs import QUERIES


def fitted(path: Path | None = None) -> dict[str, FlinkJob]:
    """Return the job of every query, from the package's parameters or a similar file; raises
    BadInput for an invalid file.
    """
    return {query: jobs[0] for query, jobs in structures(path).items()}


def structures(path: Path | None = None) -> dict[str, list[FlinkJob]]:
    """Return the jobs of every query in all fitted structures, the chosen one first; raises
    BadInput for an invalid file.
    """
    source = files("rheostat_lab.thesis") / "thesis_parameters.json" if path is None else path
    try:
        read: Mapping[str, Any] = json.loads(source.read_text(encoding="utf-8"))
        return {
            query: [FlinkJob(**numbers) for numbers in read["queries"][query]] for query in QUERIES
        }
    except OSError as error:
        raise BadInput(f"the parameters {source} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        missing = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        reason = "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else missing
        raise BadInput(
            f"{source} does not hold the parameters of queries {', '.join(QUERIES)}: {reason}"
        ) from None
