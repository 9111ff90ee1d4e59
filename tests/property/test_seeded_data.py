"""Data that is a function of the seed does not depend on how the work is split."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rheostat_lab.loads import counter
from rheostat_lab.loads.day import Day
from rheostat_lab.loads.due_rows import DueRows, rows_until
from rheostat_lab.nexmark.encoding import encode, tables
from rheostat_lab.nexmark.events import KINDS, events

SEEDS = st.integers(0, 2**64 - 1)
FEW_SEEDS = st.sampled_from((0, 7, 2**63))


@given(SEEDS, st.integers(0, 2**32), st.lists(st.integers(0, 2**62), min_size=1, max_size=20))
def test_single_draws_equal_vectorized_draws(seed: int, lane: int, counters: list[int]) -> None:
    n = np.array(counters, dtype=np.int64)
    assert counter.bits(seed, lane, n).tolist() == [
        counter.bits_at(seed, lane, i) for i in counters
    ]
    assert counter.uniform(seed, lane, n).tolist() == [
        counter.uniform_at(seed, lane, i) for i in counters
    ]


@given(
    FEW_SEEDS,
    st.sampled_from(KINDS),
    st.integers(0, 10**9),
    st.lists(st.integers(0, 60), min_size=1, max_size=6),
)
def test_data_of_one_kind_do_not_depend_on_the_split(
    seed: int, kind: str, first: int, sizes: list[int]
) -> None:
    complete = list(encode(events(kind, seed, first, sum(sizes)), 5))
    parts: list[bytes] = []
    for size in sizes:
        parts += encode(events(kind, seed, first + len(parts), size), 5)
    assert parts == complete


@given(FEW_SEEDS, st.integers(0, 10**6), st.integers(0, 200), st.integers(0, 200))
def test_data_of_all_kinds_do_not_depend_on_the_split(
    seed: int, first: int, one: int, other: int
) -> None:
    complete = tables(seed, first, one + other, 100.0)
    parts = tables(seed, first, one, 100.0), tables(seed, first + one, other, 100.0)
    for kind in KINDS:
        rows = [row for part in parts for row in part[kind].to_pylist()]
        assert rows == complete[kind].to_pylist()


@given(st.lists(st.floats(0, 30), min_size=1, max_size=8), st.integers(0, 100))
def test_due_rows_do_not_depend_on_the_query_times(moments: list[float], seed: int) -> None:
    day = Day(low=3, peak=40, day_s=24, seed=seed)
    due = DueRows(day)
    counts = [due.until(t) for t in sorted(moments)]
    assert counts == sorted(counts)
    assert counts[-1] == rows_until(day, max(moments))
