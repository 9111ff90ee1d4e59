import pytest
from hypothesis import given
from hypothesis import strategies as st

from rheostat.model import Observation
from rheostat.signals.lag import (
    lag_by_partition,
    lag_rows,
    lag_rows_upper,
    littles_law_s,
    queued_rows,
)


def test_lag_is_summed_over_partitions():
    assert lag_rows({("a", 0): 10, ("a", 1): 20}, {("a", 0): 7, ("a", 1): 20}) == 3


def test_a_new_partition_counts_from_offset_zero():
    assert lag_rows({("a", 0): 10, ("a", 1): 5}, {("a", 0): 10}) == 5


def test_a_stale_broker_answer_gives_no_negative_lag():
    assert lag_rows({("a", 0): 10, ("a", 1): 20}, {("a", 0): 12, ("a", 1): 15}) == 5


def test_the_upper_bound_applies_the_largest_task_lag_to_all_partitions():
    assert lag_rows_upper([[5, 1, 0], [2], []]) == 5 * 3 + 2


def test_with_one_partition_per_task_the_upper_bound_is_the_sum():
    assert lag_rows_upper([[5], [1], [0]]) == 6


def test_missing_offsets_make_the_lag_unknown():
    assert lag_rows({("a", 0): 10}, {}) is None
    assert lag_rows({}, {("a", 0): 10}) is None


@pytest.mark.parametrize(
    ("rows", "rate", "expected"),
    [
        (300.0, 100.0, 3.0),
        (0.0, 100.0, 0.0),
        (0.0, 0.0, 0.0),
        (5.0, 0.0, None),
        (None, 100.0, None),
        (5.0, None, None),
    ],
)
def test_the_wait_follows_littles_law(rows, rate, expected):
    assert littles_law_s(rows, rate) == expected


@pytest.mark.parametrize(
    ("rows", "wait", "rate", "expected"),
    [
        (7.0, 2.0, 100.0, 7.0),
        (0.0, 2.0, 100.0, 0.0),
        (None, 2.0, 100.0, 200.0),
        (None, None, 100.0, None),
        (None, 2.0, None, None),
    ],
)
def test_uncounted_rows_are_derived_from_their_wait(rows, wait, rate, expected):
    assert (
        queued_rows(Observation(t_s=0.0, lag_rows=rows, lag_s=wait, input_rows_per_s=rate))
        == expected
    )


@given(
    st.dictionaries(st.tuples(st.sampled_from("ab"), st.integers(0, 40)), st.integers(0, 9)),
    st.integers(0, 9),
)
def test_lag_by_partition_sums_to_the_total(latest, read):
    committed = {partition: min(read, offset) for partition, offset in latest.items()}
    by_name = lag_by_partition(latest, committed)
    assert sum(by_name.values()) == (lag_rows(latest, committed) or 0)
    assert len(by_name) <= 10
    assert all(rows > 0 for rows in by_name.values())


def test_the_partitions_with_the_most_lag_are_named():
    latest = {("orders", number): number for number in range(11)}
    by_name = lag_by_partition(latest, {}, most=2)
    assert by_name == {"orders/10": 10, "orders/9": 9, "orders/others": 36}
