"""The 54 runs and their recordings."""

from __future__ import annotations

import numpy as np
import pytest

from rheostat.errors import BadInput
from rheostat.replay.recording import packaged
from rheostat_lab.thesis.recordings import load_recording
from rheostat_lab.thesis.thesis_runs import POLICIES, QUERIES, cells, load


def test_there_are_54_cells_of_queries_policies_and_parameters() -> None:
    keys = {(cell.query, cell.policy, cell.parameter) for cell in cells()}
    assert len(keys) == 54 == 3 * len(POLICIES) * len(QUERIES)


def test_all_but_the_fifteen_recorded_runs_are_held_out() -> None:
    assert sum(cell.held_out for cell in cells()) == 39
    assert {cell.recording for cell in cells() if cell.recording} == set(packaged())
    assert sum(cell.fitted for cell in cells()) == 9


def test_every_cell_creates_its_policy() -> None:
    assert all(callable(cell.make().decide) for cell in cells())


@pytest.mark.parametrize(
    "name", ["query-1_HPA_50", "query-11_HPA_90", "query-3_ds2-original-reactive_00"]
)
def test_a_recording_reproduces_the_published_table(name: str) -> None:
    cell = next(cell for cell in cells() if cell.recording == name)
    read = load_recording(name)
    assert read.latency_s.mean() == pytest.approx(cell.latency_s, abs=0.03)
    assert read.executors.mean() == pytest.approx(cell.executors, abs=0.03)
    assert np.sum(read.arrivals) == pytest.approx(
        np.nanmean(read.input_rows_per_s) * 8400, rel=0.02
    )


def test_the_load_has_the_range_of_the_thesis() -> None:
    rates = [load("3", 5).rate_per_s(60.0 * minute) for minute in range(60)]
    assert 15_000 <= min(rates) <= 35_000
    assert 65_000 <= max(rates) <= 85_000


def test_a_missing_recording_is_reported() -> None:
    with pytest.raises(BadInput, match="there is no recording query-2_HPA_50"):
        load_recording("query-2_HPA_50")
