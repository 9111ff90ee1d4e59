"""How far batch times were off, a day a row and all days of a query together. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rheostat_lab.live.batch_prediction import Prediction, size, together
from rheostat_lab.live.policy_table import Days, row

HEAD = (
    "query",
    "seed",
    "batches",
    "median",
    "90 %",
    "as the batch before: median, 90 %",
    "others: batches, median, 90 %",
    "decisions repeated",
)


def prediction_table(days: Days, queries: Sequence[str]) -> list[str]:
    """Return the errors of the days that have them; no lines where none has."""
    lines = []
    for query in queries:
        found = {day.seed: day.prediction for day in days if day.query == query and day.prediction}
        lines += [row(query, str(seed), *_cells(each)) for seed, each in found.items()]
        if len(found) > 1:
            lines.append(row(query, "all", *_cells(together(found.values()))))
    return [row(*HEAD), row(*["---"] * len(HEAD)), *lines] if lines else []


def _cells(found: Prediction) -> list[str]:
    return [
        str(len(found.errors)),
        _size(found.errors, 0.5),
        _size(found.errors, 0.9),
        f"{_size(found.repeated, 0.5)}, {_size(found.repeated, 0.9)}",
        f"{len(found.unsettled)}, {_size(found.unsettled, 0.5)}, {_size(found.unsettled, 0.9)}",
        f"{found.same_decisions} of {found.looks}",
    ]


def _size(errors: Sequence[float], share: float) -> str:
    off = size(errors, share)
    return "-" if off is None else f"{off:.3f}"
