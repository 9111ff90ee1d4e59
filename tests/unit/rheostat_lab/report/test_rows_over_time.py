import numpy as np
from tests.unit.rheostat_lab.report.test_summary import batch, run_of

from rheostat_lab.report.rows_over_time import arrived, committed, rows_at, waiting

TIMES = np.array([0.0, 1.9, 2.0, 3.5])


def test_rows_wait_until_their_batch_is_committed() -> None:
    run = run_of(batches=[batch(0, 1, 2), batch(1, 2, 3)])
    assert list(committed(run, TIMES)) == [0, 0, 100, 200]
    assert list(waiting(run, TIMES)) == [0, 190, 100, 150]


def test_a_run_without_batches_or_arrivals_has_zero_rows() -> None:
    assert list(committed(run_of(), TIMES)) == [0, 0, 0, 0]
    assert list(arrived(run_of(curve=()), TIMES)) == [0, 0, 0, 0]
    assert list(waiting(run_of(curve=()), TIMES)) == [0, 0, 0, 0]


def test_rows_between_two_points_are_interpolated() -> None:
    assert rows_at(run_of(), 1.5) == 150.0
