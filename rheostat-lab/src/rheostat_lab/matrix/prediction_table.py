"""The errors of predicted batch times, one row per day and one per query. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rheostat_lab.matrix.batch_prediction import Prediction, size, together
from rheostat_lab.matrix.policy_table import Days, row

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
    """Return the errors of the days that have them; no lines without any."""
    lines = []
    for query in queries:
        predictions = {
            day.seed: day.prediction for day in days if day.query == query and day.prediction
        }
        lines += [
            row(query, str(seed), *_cells(prediction)) for seed, prediction in predictions.items()
        ]
        if len(predictions) > 1:
            lines.append(row(query, "all", *_cells(together(predictions.values()))))
    return [row(*HEAD), row(*["---"] * len(HEAD)), *lines] if lines else []


def _cells(prediction: Prediction) -> list[str]:
    return [
        str(len(prediction.errors)),
        _size(prediction.errors, 0.5),
        _size(prediction.errors, 0.9),
        f"{_size(prediction.repeated, 0.5)}, {_size(prediction.repeated, 0.9)}",
        f"{len(prediction.unsettled)}, {_size(prediction.unsettled, 0.5)},"
        f" {_size(prediction.unsettled, 0.9)}",
        f"{prediction.same_decisions} of {prediction.looks}",
    ]


def _size(errors: Sequence[float], share: float) -> str:
    off = size(errors, share)
    return "-" if off is None else f"{off:.3f}"
