"""The result of the thesis' comparison: rows of all runs, and a summary with steps A, B and C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from rheostat_lab.flink.flink_job import FlinkJob
from rheostat_lab.thesis import statistics
from rheostat_lab.thesis.closed_loop import Outcome
from rheostat_lab.thesis.forced_plant import compare, force, latency_errors
from rheostat_lab.thesis.policies_alone import step_a
from rheostat_lab.thesis.recordings import load_recording
from rheostat_lab.thesis.thesis_runs import QUERIES, Cell, cells

STEP_B_AT_MOST = {"1": 0.2, "3": 0.2, "11": 0.3}
RANKS_AT_LEAST = {"1": 0.85, "3": 0.85, "11": 0.7}
EXECUTOR_RANKS_AT_LEAST = 0.9
COVER_AT_LEAST = 0.8


def step_b(jobs: dict[str, FlinkJob], candidates: dict[str, list[FlinkJob]]) -> dict[str, Any]:
    """Return the errors on all fifteen recordings, and the medians over the six that no parameter
    was fitted on, one left out at a time.
    """
    recorded = [cell for cell in cells() if cell.recording]
    runs = [
        {"fitted": cell.fitted, **compare(jobs[cell.query], load_recording(cell.recording or ""))}
        for cell in recorded
    ]
    return {
        "recordings": runs,
        "median_log10_latency": {
            query: _left_out(query, candidates[query], recorded) for query in QUERIES
        },
    }


def _left_out(
    query: str, candidates: Sequence[FlinkJob], recorded: Sequence[Cell]
) -> dict[str, Any]:
    """Leave out each run of a query in turn: the structure is the one with the smallest mean error
    on its other run.
    """
    names = [cell.recording or "" for cell in recorded if cell.query == query and not cell.fitted]
    reads = {name: load_recording(name) for name in names}
    losses = {
        name: [latency_errors(force(job, read), read) for job in candidates]
        for name, read in reads.items()
    }
    errors = []
    for name in names:
        others = [
            np.mean([losses[other][index].mean() for other in names if other != name])
            for index in range(len(candidates))
        ]
        errors.append(losses[name][int(np.argmin(others))])
    medians = {name: float(np.median(error)) for name, error in zip(names, errors, strict=True)}
    pooled, most = float(np.median(np.concatenate(errors))), STEP_B_AT_MOST[query]
    return {
        "at_most": most,
        "pooled": pooled,
        "each": medians,
        "reached": pooled <= most and all(value <= most for value in medians.values()),
    }


def summary(outcomes: Sequence[Outcome], candidates: dict[str, list[FlinkJob]]) -> dict[str, Any]:
    """Return steps A, B and C: tables with intervals, rank correlations, coverage, named facts,
    paired tests, and the targets reached.
    """
    by_cell, chosen = (
        statistics.by_cell(outcomes),
        {query: jobs[0] for query, jobs in candidates.items()},
    )
    ranks, cover = statistics.ranks(by_cell), statistics.cover(by_cell)
    return {
        "step_a": [asdict(row) for row in step_a(chosen)],
        "step_b": step_b(chosen, candidates),
        "step_c": {
            "cells": statistics.tables(by_cell),
            "spearman_held_out": ranks,
            "spearman_of_a_seed": statistics.ranks_of_a_seed(by_cell),
            "cover_held_out": cover,
            "reached": _reached(ranks, cover),
            "facts": statistics.facts(by_cell),
            "paired": statistics.paired(by_cell),
        },
    }


def _reached(
    ranks: dict[str, dict[str, float | int | None]], cover: dict[str, float | int | None]
) -> dict[str, bool | None]:
    reached: dict[str, bool | None] = {}
    for query, rank in ranks.items():
        reached[f"q{query} latency"] = _at_least(rank["latency_s"], RANKS_AT_LEAST[query])
        reached[f"q{query} executors"] = _at_least(rank["executors"], EXECUTOR_RANKS_AT_LEAST)
    return {**reached, "cover": _at_least(cover["latency_and_executors"], COVER_AT_LEAST)}


def _at_least(value: float | int | None, least: float) -> bool | None:
    return None if value is None else value >= least
