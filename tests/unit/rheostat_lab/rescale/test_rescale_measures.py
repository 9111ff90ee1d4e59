from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rheostat_lab.rescale.disturbance import Timed
from rheostat_lab.rescale.event_log import EventLog, Life, StageRun, Task
from rheostat_lab.rescale.rescale_measures import Run, measures, steady_batches
from rheostat_lab.rescale.rescale_plot import draw
from rheostat_lab.rescale.rescale_ways import Mark

PARTITIONS, RUN = 4, "run"
SLOW = {21: 3.0, 41: 2.0}
"""The batch after the registration, and the one after the scale-in request; all others take one
second."""


def holder(partition: int, batch: int) -> str:
    """Return the holder: executors 2 and 3 hold the upper half from batch 22 to batch 41."""
    return str(partition if 22 <= batch < 42 else partition % 2)


def run() -> Run:
    """60 batches of 2 s; executors 2 and 3 are requested at 36 s, registered at 41 s, settled at 48
    s, requested to leave at 82 s, and removed at 88 s."""
    batches = [Timed(2.0 * i, 2.0 * i + SLOW.get(i, 1.0), SLOW.get(i, 1.0)) for i in range(60)]
    log = EventLog(
        executors={
            "0": Life("h", 1, 0.0),
            "1": Life("h", 1, 0.0),
            "2": Life("h", 1, 41.0, 88.0),
            "3": Life("h", 1, 41.5, 88.0),
        }
    )
    for i, batch in enumerate(batches):
        log.stages[(i, 0)] = StageRun((i, 0), PARTITIONS, (RUN, i), batch.start_s)
        log.tasks += [
            Task((i, 0), p, holder(p, i), "ANY", batch.start_s, batch.start_s + 0.5, None)
            for p in range(PARTITIONS)
        ]
    marks = [Mark(2, 2, 0.0, 0.5), Mark(2, 4, 36.0, 48.0), Mark(4, 2, 82.0, 88.0)]
    ids = [(RUN, i) for i in range(len(batches))]
    return Run(
        batches=batches, ids=ids, marks=marks, unscored=1, log=log, partitions=PARTITIONS, mb=40.0
    )


def test_scale_out_counts_from_registration_and_the_start_is_separate() -> None:
    result = measures(run())
    assert (result["out"]["n"], result["out_start"]["n"], result["in"]["n"]) == (1, 1, 1)
    assert result["out"]["values"] == (pytest.approx(2.0),)
    assert result["out_start"]["values"] == (pytest.approx(0.0),)
    assert result["in"]["values"] == (pytest.approx(1.0),)
    assert result["steady_batch_s"] == {"2": 1.0, "4": 1.0}
    assert (result["rescales"], result["failed_tasks"], result["stalls"]) == (2, 0, [])


@pytest.mark.parametrize(("stolen", "n"), [((0.01,), 1), ((0.4,), 0), ((), 0)])
def test_rescales_with_little_host_steal_are_reported_separately(
    stolen: tuple[float, ...], n: int
) -> None:
    result = measures(replace(run(), stolen=stolen))
    for kind in ("in", "out"):
        assert result[kind]["n"] == 1
        assert result[kind]["undisturbed"]["n"] == n
        assert result[kind]["undisturbed"]["values"] == result[kind]["values"][:n]


def test_undisturbed_rescales_have_separate_steady_batches() -> None:
    slow_host = [
        replace(batch, duration_s=1.9) if batch.start_s < 36 else batch for batch in run().batches
    ]
    both = replace(run(), batches=slow_host, stolen=(0.01,))
    assert measures(both)["steady_batch_s"] == {"2": 1.9, "4": 1.0}
    assert [batch.start_s for batch in steady_batches(both, both.undisturbed)[2]] == [
        92.0 + 2 * i for i in range(14)
    ]
    assert measures(both)["in"]["values"] == (pytest.approx(2.0 / 1.9 - 1),)
    assert measures(both)["in"]["undisturbed"]["values"] == (pytest.approx(1.0),)


def test_moved_state_is_derived_from_task_locations() -> None:
    result = measures(run())
    assert result["out"]["moved_units"] == [2]
    assert result["out"]["moved_mb_per_executor"] == 10.0
    assert result["out"]["new_executor_state_share"] == 1.0
    assert result["out"]["state_spread"] == [0]
    assert result["in"]["moved_mb_per_executor"] == 10.0
    assert result["in"]["new_executor_state_share"] is None


def test_no_batch_during_or_after_a_rescale_is_steady() -> None:
    steady = steady_batches(run())
    assert [batch.start_s for batch in steady[4]] == [52.0 + 2 * i for i in range(15)]
    assert [batch.start_s for batch in steady[2]] == [6.0 + 2 * i for i in range(15)] + [
        92.0 + 2 * i for i in range(14)
    ]


def test_batches_disturbed_by_the_measurement_are_not_steady() -> None:
    calm = steady_batches(replace(run(), busy=[(60.5, 63.0)]))[4]
    assert {52.0, 58.0, 64.0} <= {batch.start_s for batch in calm}
    assert not {60.0, 62.0} & {batch.start_s for batch in calm}


def test_the_result_can_be_plotted(tmp_path: Path) -> None:
    what = {"spark": "4.3.0", "query": "count", "state_mb": 40.0, "executors": [2, 4]}
    result = measures(run()) | {
        "curve": [(batch.start_s, batch.duration_s) for batch in run().batches],
        "marks": [("out", 36.0, 48.0)],
    }
    draw({"what": what, "ways": {"rheostat": result}}, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
