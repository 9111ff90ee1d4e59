import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.rheostat_lab.report.test_summary import batch, run_of

from rheostat_lab.report.finished_run import Run
from rheostat_lab.report.misses import misses, rows_lost
from rheostat_lab.report.summary import summarize


def ticking(*late: tuple[float, float, float], step: float = 1.0) -> Run:
    """Return a run of 100 s with 100 rows/s and an objective of 2 s whose batches are in time
    except the given ones: (first second, last second, commit)."""
    batches, done = [], 0.0
    for first, end, commit in sorted(late):
        while done < first:
            batches.append(batch(done, done + step, done + step + 0.5))
            done += step
        batches.append(batch(first, end, commit))
        done = end
    while done < 100:
        batches.append(batch(done, done + step, done + step + 0.5))
        done += step
    return run_of(batches=batches)


def test_a_run_on_time_has_no_misses() -> None:
    assert misses(ticking()) == []


def test_a_miss_lasts_from_the_first_late_row_to_the_last_commit() -> None:
    (miss,) = misses(ticking((10, 15, 16)))
    assert (miss.arrived_s, miss.start_s, miss.end_s) == (10.0, 12.0, 16.0)
    assert miss.rows == pytest.approx(400)
    assert miss.worst_s == pytest.approx(6.0)


def test_misses_less_than_one_objective_apart_are_merged() -> None:
    (one,) = misses(ticking((10, 15, 16), (15, 17, 18)))
    assert (one.start_s, one.end_s) == (12.0, 18.0)
    assert len(misses(ticking((10, 15, 16), (30, 35, 36)))) == 2


def test_rows_of_the_warm_up_are_excluded() -> None:
    run = run_of(batches=[batch(0, 10, 60), batch(10, 100, 100.5)], warm_up_s=10.0, end_s=100.5)
    assert misses(run)[0].arrived_s == pytest.approx(10.0)


def test_rows_never_committed_are_a_miss_until_the_end() -> None:
    run = run_of(batches=[batch(t, t + 1, t + 1.5) for t in range(50)])
    last = misses(run)[-1]
    assert not last.committed
    assert (last.arrived_s, last.end_s) == (50.0, 100.0)
    assert rows_lost(run) == pytest.approx(4800)


def test_a_run_without_batches_or_arrivals_does_not_fail() -> None:
    assert misses(run_of(curve=())) == []
    assert [miss.committed for miss in misses(run_of())] == [False]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=20))
def test_the_late_rows_of_all_misses_match_the_share_within_the_slo(lengths: list[int]) -> None:
    batches, done = [], 0.0
    for length in lengths:
        batches.append(batch(done, done + length, done + length + 0.5))
        done += length
    run = run_of(
        batches=batches,
        curve=[(float(t), 100.0 * t) for t in range(int(done) + 1)],
        end_s=done + 0.5,
    )
    share = summarize(run).share_within_slo
    assert share is not None
    late = sum(miss.rows for miss in misses(run))
    assert late == pytest.approx((1 - share) * 100 * done, abs=len(lengths))
    assert all(miss.start_s < miss.end_s for miss in misses(run))
